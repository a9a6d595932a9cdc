"""Ways to realise a plan: which processes its faults end, and how."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from onceproof.spark_checks.plan.run_draft import HARM
from onceproof.spark_checks.plan.run_plan import (
    OUT_OF_REACH,
    InterleavingPlan,
    looked_mark,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.spark_checks.plan.run_plan import ExpectedMark, RunPlan

    Realisation: TypeAlias = Callable[[InterleavingPlan], InterleavingPlan]
    """Changes how the faults of a plan are injected, or refuses the plan."""

_DIES_TOO = "a task that is given up dies with its driver, whose processes are killed"


def in_shared_session(plan: InterleavingPlan) -> InterleavingPlan:
    """Return a plan as it is: the driver's own process dies, and the JVM lives on."""
    return plan


def by_killed_drivers(plan: InterleavingPlan) -> InterleavingPlan:
    """Let a driver that dies take its JVM and all of its processes with it.

    A plan in which a task outlives its driver is refused.
    """
    looks = {looked_mark(run.number) for run in plan.runs}
    outlives = any(
        rule.do == "zombie" and not looks.isdisjoint(rule.await_)
        for run in plan.runs
        for rule in run.rules
    )
    if outlives:
        return InterleavingPlan(
            plan.interleaving, refusal=_DIES_TOO, cause=OUT_OF_REACH
        )
    return replace(plan, runs=tuple(map(_killed, plan.runs)))


def _killed(run: RunPlan) -> RunPlan:
    if run.end_mark is None or not run.kills_driver:
        return run
    mark = run.end_mark.mark
    rules = tuple(
        replace(rule, do="kill") if (rule.do, rule.mark) == ("die", mark) else rule
        for rule in run.rules
    )
    if rules == run.rules:
        return run
    survived = {due.what for due in run.expected}
    how = tuple(what if what in survived else _in_words(what) for what in run.how)
    ended: ExpectedMark = replace(run.end_mark, what="; ".join(how))
    return replace(run, rules=rules, how=how, end_mark=ended)


def _in_words(what: str) -> str:
    died = HARM["die"]
    return what.replace(died, HARM["kill"], 1) if what.startswith(died) else what
