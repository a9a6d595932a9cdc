"""One plan, realised in several ways: by a death, by SIGKILL of the whole driver."""

from __future__ import annotations

from functools import partial

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan import ways
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.plan.plans import Plans
from onceproof.spark_checks.plan.realisations import (
    by_killed_drivers,
    in_shared_session,
    on_cluster,
)
from onceproof.spark_checks.sinks.interface import Foreach, ForeachBatch
from tests.spark_checks.steering import SINKS

TWO = Sizes(batches=2)
UNDER_TEST = {
    "foreach-batch-append": ForeachBatch(print, read="/data"),
    "foreach-writer": Foreach(print, read="/data"),
}


def plans_of(name, realised, *, faults=1):
    """Plan all interleavings of a sink, whose faults are realised in some way."""
    sink = SINKS[name]
    protocol = protocol_of(sink, TWO, faults=faults)
    plans = Plans(protocol, sink, kind_of(UNDER_TEST[name]), realised)
    return [plans.of(one) for one in interleavings(protocol).classes]


@pytest.mark.parametrize("name", sorted(UNDER_TEST))
def test_only_the_driver_s_own_death_becomes_a_kill(name):
    """A task that dies, and an error, end no driver."""
    plain = plans_of(name, in_shared_session)

    killed = plans_of(name, by_killed_drivers)

    for one, other in zip(plain, killed, strict=True):
        for run, changed in zip(one.runs, other.runs, strict=True):
            ends = run.end_mark.mark if run.end_mark else ""
            for before, after in zip(run.rules, changed.rules, strict=True):
                dies = (before.do, before.mark) == ("die", ends)
                kills = dies and run.kills_driver
                assert after.do == ("kill" if kills else before.do)
    assert any(r.do == "kill" for p in killed for run in p.runs for r in run.rules)


def test_a_kill_is_reported_as_one():
    killed = plans_of("foreach-batch-append", by_killed_drivers)

    for plan in killed:
        kills = ways.KILLED in ways.ways(plan.runs)
        shown = [how for run in plan.runs for how in run.how]
        assert kills == any(how.startswith("SIGKILL ends the driver") for how in shown)
        for run in plan.runs:
            if run.end_mark is not None:
                assert run.end_mark.what == "; ".join(run.how)


def test_the_same_interleavings_are_realised_in_other_ways():
    plain = plans_of("foreach-batch-append", in_shared_session)
    killed = plans_of("foreach-batch-append", by_killed_drivers)

    found = {
        (ways.ways(one.runs), ways.ways(other.runs))
        for one, other in zip(plain, killed, strict=True)
    }

    assert ((ways.DIED,), (ways.KILLED,)) in found
    assert all(ways.DIED not in other for _, other in found)
    assert all(other for _, other in found)


def test_every_fault_of_a_plan_has_a_way():
    for name in UNDER_TEST:
        for plan in plans_of(name, in_shared_session, faults=2):
            if not plan.refusal:
                assert ways.ways(plan.runs), plan.interleaving


def test_a_task_that_outlives_its_driver_is_refused():
    """It is in the driver's own processes, and SIGKILL ends those."""
    plain = plans_of("foreach-writer", in_shared_session, faults=2)
    killed = plans_of("foreach-writer", by_killed_drivers, faults=2)

    refused = [
        one
        for one, other in zip(plain, killed, strict=True)
        if other.refusal and not one.refusal
    ]

    assert refused
    for plan in refused:
        assert any(rule.do == "zombie" for run in plan.runs for rule in run.rules)


CLUSTERED = partial(on_cluster, partitions=2, attempts=2)


def test_on_a_cluster_executors_die_and_tasks_are_slow():
    """Spark does to them what the shared session does to a task's own process."""
    plain = plans_of("foreach-writer", in_shared_session)

    clustered = plans_of("foreach-writer", CLUSTERED)

    instead = {ways.TASK_DIED: ways.EXECUTOR_KILLED, ways.GIVEN_UP: ways.COPIED}
    for one, other in zip(plain, clustered, strict=True):
        expected = tuple(instead.get(way, way) for way in ways.ways(one.runs))
        assert ways.ways(other.runs) == expected
    found = {way for plan in clustered for way in ways.ways(plan.runs)}
    assert {ways.EXECUTOR_KILLED, ways.COPIED} <= found


def test_a_slow_task_waits_until_its_copy_has_begun():
    for plan in plans_of("foreach-writer", CLUSTERED):
        for run in plan.runs:
            begun = {rule.mark for rule in run.rules if rule.do == "pass"}
            for rule in run.rules:
                if rule.do == "slow":
                    assert rule.await_[0] in begun


def test_an_attempt_that_the_plan_lacks_leaves_a_mark():
    """And no attempt that the plan has a rule for does."""
    for plan in plans_of("foreach-writer", CLUSTERED):
        for run in plan.runs:
            extra = {
                (rule.batch, rule.partition, rule.attempt)
                for rule in run.rules
                if rule.mark.startswith("extra-")
            }
            planned = {
                (rule.batch, rule.partition, rule.attempt)
                for rule in run.rules
                if rule.attempt is not None and not rule.mark.startswith("extra-")
            }
            everything = {
                (batch, partition, attempt)
                for batch in range(run.offered)
                for partition in range(2)
                for attempt in (1, 2)
            }
            assert not extra & planned
            failed = {
                (rule.batch, rule.partition, (rule.attempt or 0) + 1)
                for rule in run.rules
                if rule.do in ("kill_executor", "slow", "die", "raise")
                and rule.attempt is not None
            }
            assert everything <= extra | planned | failed
