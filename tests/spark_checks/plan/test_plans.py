"""An interleaving becomes runs whose faults wait for each other and leave marks."""

from __future__ import annotations

import functools

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.plan.planner import realise
from onceproof.spark_checks.plan.run_plan import NotReplayable
from onceproof.spark_checks.sinks.interface import Target
from tests.spark_checks.steering import SINKS, SMALL, numbered


@functools.cache
def listed(name: str, faults: int):
    """List the interleavings of a sink, once for all tests."""
    protocol = protocol_of(SINKS[name], SMALL, faults=faults)
    return protocol, interleavings(protocol).classes


def plans(name: str, tmp_path, *, faults: int = 2):
    sink = SINKS[name]
    kind = kind_of(sink.build(Target(tmp_path, "sink")))
    protocol, classes = listed(name, faults)
    for one in classes:
        try:
            yield one.number, realise(one, protocol, sink, kind)
        except NotReplayable:
            continue


def plan(name: str, tmp_path, *words: str):
    return dict(plans(name, tmp_path))[numbered(name, *words)]


@pytest.mark.parametrize("name", sorted(SINKS))
def test_moments_of_an_interleaving_bear_names_of_their_own(name, tmp_path):
    """No two runs of any two-fault interleaving end at a moment of the same name."""
    planned = [[run.moment for run in runs] for _, runs in plans(name, tmp_path)]

    doubled = [moments for moments in planned if len(set(moments)) < len(moments)]

    assert planned
    assert not doubled


@pytest.mark.parametrize("name", sorted(SINKS))
def test_every_fault_is_due_to_show(name, tmp_path):
    """Of each fault a mark is due, or the engine itself brings it about."""
    for number, runs in plans(name, tmp_path):
        for run in runs:
            due = {d.mark for r in runs for d in r.expected}
            hit = {run.end_mark.mark} if run.end_mark else set()
            # What waits for the fault dies of it, and is no fault.
            acts = {
                r.mark
                for r in run.rules
                if r.do in ("die", "raise", "zombie") and not hit & set(r.await_)
            }

            unseen = acts - due - hit - {""}

            assert not unseen, number
            assert run.fails == (run.end_mark is not None), number


def test_a_task_that_is_given_up_may_land_in_a_later_run(tmp_path):
    """It waits until the crash has been looked at, and for the later run's commit."""
    first, second = plan(
        "foreach-batch-append",
        tmp_path,
        "log_offsets(0)",
        "lose_contact(0, 0, 0)",
        "crash()",
        "write(0, 0, 0)",
        "write(0, 1, 0)",
        "log_commit(0)",
        "zombie_write(0, 0, 0)",
    )

    zombie = next(rule for rule in first.rules if rule.do == "zombie")

    assert zombie.await_ == ("0-looked", "{checkpoint}/commits/0")
    assert [due.event for due in second.expected] == ["zombie_write(0, 0, 0)"]
    assert not any(due.late for due in first.expected)


def test_a_crash_waits_for_the_fault_before_it(tmp_path):
    """A task of the same run dies first; only then may others die of the crash."""
    first, _ = plan(
        "foreach-batch-append",
        tmp_path,
        "log_offsets(0)",
        "fail_task(0, 0, 0)",
        "crash()",
        "write(0, 0, 0)",
        "write(0, 1, 0)",
        "log_commit(0)",
    )

    stops = [rule for rule in first.rules if rule.mark == first.end_mark.mark]

    assert stops
    assert all(rule.await_ == (first.expected[0].mark,) for rule in stops)
    assert (0, 0) not in {(rule.partition, rule.attempt) for rule in stops}


def test_a_driver_takes_partitions_in_one_order(tmp_path):
    """Two runs that move different files first cannot be had of one driver."""
    name = "datasource-unprotected"
    words = [f"sink.move(0, {p})" for p in (0, 1)]
    same = ("log_offsets(0)", words[0], "crash()", words[0], "crash()", *words)
    other = ("log_offsets(0)", words[0], "crash()", words[1], "crash()", *words)
    number, refused = (numbered(name, *w, "log_commit(0)") for w in (same, other))

    planned = dict(plans(name, tmp_path))

    assert number in planned
    assert refused not in planned
