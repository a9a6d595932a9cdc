"""Ways to realise a plan: which processes its faults end, and how."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from onceproof.spark_checks.plan.rules import ENDS, EXTRA, Rule
from onceproof.spark_checks.plan.run_draft import HARM
from onceproof.spark_checks.plan.run_plan import (
    BEGIN,
    OUT_OF_REACH,
    InterleavingPlan,
    NotReplayable,
    looked_mark,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onceproof.spark_checks.plan.run_plan import RunPlan

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
    return _changed(
        run,
        [
            replace(rule, do="kill") if (rule.do, rule.mark) == ("die", mark) else rule
            for rule in run.rules
        ],
    )


def on_cluster(
    plan: InterleavingPlan, *, partitions: int, attempts: int
) -> InterleavingPlan:
    """Let executors die in place of tasks, and let slow tasks outlive their copies.

    Spark makes a copy of a slow task by itself. Tasks leave a mark where Spark makes an
    attempt that the plan lacks; a batch has so many ``partitions``, and a task so many
    ``attempts`` at most.
    """
    tasks = list(itertools.product(range(partitions), range(1, attempts + 1)))
    try:
        runs = tuple(_clustered(run, tasks) for run in plan.runs)
    except NotReplayable as why:
        return InterleavingPlan(plan.interleaving, refusal=str(why), cause=why.cause)
    return replace(plan, runs=runs)


def _clustered(run: RunPlan, tasks: Sequence[tuple[int, int]]) -> RunPlan:
    faults = {due.mark for due in run.expected if due.fault}
    if run.end_mark is not None and not run.kills_driver:
        faults.add(run.end_mark.mark)
    rules: list[Rule] = []
    due: set[tuple[int, int | None, int]] = set()
    for rule in run.rules:
        if rule.attempt is not None:
            due.add((rule.batch, rule.partition, rule.attempt))
            if rule.do != "pass":
                due.add((rule.batch, rule.partition, rule.attempt + 1))
        if rule.do == "zombie":
            rules += _slowed(run, rule)
        elif rule.do == "die" and rule.mark in faults and rule.attempt is not None:
            rules.append(replace(rule, do="kill_executor"))
        else:
            rules.append(rule)
    for batch in range(run.offered):
        for partition, attempt in tasks:
            if (batch, partition, attempt) not in due:
                mark = f"{EXTRA}-{run.number}-{batch}-{partition}-{attempt}"
                begins = Rule(BEGIN, "call", batch, "pass", mark=mark)
                rules.append(replace(begins, partition=partition, attempt=attempt))
    return _changed(run, rules)


def _slowed(run: RunPlan, rule: Rule) -> list[Rule]:
    """Hold a task up until Spark has begun a copy of it, and as long as planned.

    Raises ``NotReplayable`` where it would end before its copy, and win.
    """
    if rule.landed and not rule.await_:
        message = "of a slow task and its copy, Spark takes the one that ends first"
        raise NotReplayable(message)
    copied = run.mark(f"copied-{rule.batch}-{rule.partition}-{rule.attempt}")
    begins = Rule(BEGIN, "call", rule.batch, "pass", rule.partition, mark=copied)
    found = [
        replace(begins, attempt=(rule.attempt or 0) + 1),
        replace(rule, do="slow", await_=(copied, *rule.await_)),
    ]
    if rule.landed:
        ends = Rule(ENDS, "return", rule.batch, "pass", rule.partition)
        found.append(replace(ends, attempt=rule.attempt, mark=rule.landed))
    return found


def _changed(run: RunPlan, rules: Sequence[Rule]) -> RunPlan:
    """Return a run with other rules, which its words say."""
    after = {r.mark: r.do for r in rules if r.mark}
    before = {r.mark: r.do for r in run.rules if r.mark}
    words = {
        due.what: _in_words(due.what, before[due.mark], after[due.mark])
        for due in run.expected
        if due.mark in before
    }
    how = list(run.how)
    if run.end_mark is not None and run.end_mark.mark in before:
        mark = run.end_mark.mark
        words |= {
            what: _in_words(what, before[mark], after[mark])
            for what in how
            if what not in words
        }
    how = [words.get(what, what) for what in how]
    end = run.end_mark and replace(run.end_mark, what="; ".join(how))
    expected = tuple(
        replace(due, what=words.get(due.what, due.what)) for due in run.expected
    )
    return replace(
        run, rules=tuple(rules), how=tuple(how), end_mark=end, expected=expected
    )


def _in_words(what: str, before: str, after: str) -> str:
    plain = HARM.get(before, "\0")
    return what.replace(plain, HARM[after], 1) if before != after else what
