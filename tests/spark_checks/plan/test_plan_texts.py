"""What a plan asks of real runs, written down: a change of it is looked at.

Every rule, trap and mark counts: one that is not there, or waits for something else,
lets a run hold that was never hit.
"""

from __future__ import annotations

from dataclasses import fields

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.plan.planner import realise
from onceproof.spark_checks.plan.rules import Rule
from onceproof.spark_checks.plan.run_plan import NotReplayable
from onceproof.spark_checks.sinks.code_points import CodePoint, SeenPoints
from onceproof.spark_checks.sinks.interface import Target
from tests.spark_checks.steering import SINKS, SMALL

PLAIN = {
    f.name: f.default for f in fields(Rule) if f.name not in ("function", "event", "do")
}


def shown(rule: Rule) -> str:
    """Show a rule in one line: what is not as in every rule."""
    rest = [
        f"{name}={getattr(rule, name)!r}"
        for name, usual in PLAIN.items()
        if getattr(rule, name) != usual
    ]
    return f"{rule.event} of {rule.function}: {rule.do} {' '.join(rest)}"


def lines(name: str, tmp_path, *, faults: int, each: int = 1):
    sink = SINKS[name]
    kind = kind_of(sink.build(Target(tmp_path, "sink")))
    protocol = protocol_of(sink, SMALL, faults=faults)
    for one in interleavings(protocol).classes[::each]:
        hit = ", ".join(str(one.trace.events[at]) for at in one.faults)
        yield f"{one.number}: {hit}"
        try:
            runs = realise(one, protocol, sink, kind)
        except NotReplayable as why:
            yield f"  not replayed: {why}"
            continue
        for run in runs:
            undo = run.undo and (run.undo[0], set(run.undo[1]))
            yield (
                f"  run {run.number}: {run.moment}, state {run.state}, "
                f"offered {run.offered}, trap {run.trap}, undo {undo}, "
                f"merged {run.merged}, fails {run.fails}, catchable {run.catchable}"
            )
            marks = [f"{d.event}={d.mark}{' late' * d.late}" for d in run.expected]
            hits = run.end_mark.mark if run.end_mark else None
            yield f"    ends by {hits}; due {', '.join(marks) or 'nothing'}"
            yield from (f"    {shown(rule)}" for rule in run.rules)


@pytest.mark.parametrize("name", sorted(SINKS))
def test_the_plans_of_one_fault_are_what_they_were(name, tmp_path, snapshot):
    """Each interleaving of a reference sink with one fault asks for these runs."""
    assert "\n".join(lines(name, tmp_path, faults=1)) == snapshot


@pytest.mark.parametrize("name", sorted(SINKS))
def test_some_plans_of_two_faults_are_what_they_were(name, tmp_path, snapshot):
    """So does every ninth interleaving with two faults."""
    text = "\n".join(lines(name, tmp_path, faults=2, each=9))

    assert text == snapshot


def test_the_fullest_partition_is_preferred():
    """Of the tasks of a batch the one that comes to the most points is named."""
    points = tuple(CodePoint(f"line {i}") for i in range(3))
    seen = SeenPoints(tasks={(0, 0): points[:1], (0, 1): points, (0, 2): points})

    assert seen.fullest(0) == 1
    assert seen.fullest(1) is None
