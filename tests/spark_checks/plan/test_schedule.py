"""What an interleaving says to a plan: what is done, what is due, and where."""

from __future__ import annotations

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.protocols.micro_batch import Task
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.plan.rules import WORK
from onceproof.spark_checks.plan.run_draft import RunDraft
from onceproof.spark_checks.plan.run_plan import NotReplayable
from onceproof.spark_checks.plan.schedule import Schedule
from onceproof.spark_checks.plan.task_faults import fail_task
from onceproof.spark_checks.sinks.code_points import CodePoint, SeenPoints
from onceproof.spark_checks.sinks.user_code_model import (
    InstrumentedMicroBatch,
    UserCode,
)
from tests.spark_checks.steering import SINKS, SMALL

THREE = Sizes(batches=3, partitions=1)


def schedules(name, sizes=SMALL, seen=None):
    sink = SINKS[name]
    protocol = protocol_of(sink, sizes, faults=1)
    for one in interleavings(protocol).classes:
        try:
            yield one, Schedule(one, protocol, sink.steps, seen)
        except NotReplayable:
            continue


def written(schedule):
    """Yield where the first attempt of a task has written, and which task it is."""
    for at in range(len(schedule.states)):
        task = schedule.look(at).task
        for partition in range(schedule.partitions):
            if task[partition, 0] == Task.WRITTEN:
                yield at, partition


def running(schedule, at):
    """Give the batch that runs at a position."""
    before = (e for e in reversed(schedule.events[:at]) if e.name == "start_batch")
    return next((event.members[0] for event in before), None)


@pytest.mark.parametrize(
    ("name", "done"),
    [("foreach-batch-append", True), ("foreach-batch-ledger", False)],
)
def test_work_is_done_for_good_only_where_it_outlives_the_driver(name, done):
    """Rows that only the driver holds are lost with it."""
    found = {
        schedule.attempt(at, partition)
        for one, schedule in schedules(name)
        if ("write" in {one.trace.events[i].name for i in one.word}) is done
        for at, partition in written(schedule)
    }

    assert found == {(0, done)}


def test_what_is_done_is_of_the_batch_that_runs():
    """Steps of the batches before it, in the same run, are not among it."""
    met = set()
    for one, schedule in schedules("foreach-batch-append", THREE):
        for at in one.faults:
            if one.trace.events[at].name != "crash":
                continue
            batches = {event.members[0] for event in schedule.done(at)}
            assert batches <= {running(schedule, at)}, one.number
            met |= batches

    assert met >= {1, 2}


def test_the_batch_committed_last_is_the_newest_of_the_run():
    """Of several batches that one run commits, the last one counts."""
    last = {
        (running(schedule, at), schedule.committed_before(at))
        for one, schedule in schedules("foreach-batch-append", THREE)
        for at in one.faults
        if one.trace.events[at].name == "crash" and schedule.run_of(at) == 0
    }

    assert {(0, None), (1, 0), (2, 1)} <= last
    assert last <= {(None, None), (0, None), (0, 0), (1, 0), (1, 1), (2, 1), (2, 2)}


def test_the_end_of_a_tasks_work_is_no_point_in_its_midst():
    """A fault in the midst of a task hits one of its lines, or none."""
    line, end = CodePoint("line 3 of x.py, put()"), CodePoint("the return of put()")
    seen = SeenPoints(tasks={(0, 0): (line, end)})
    _, schedule = next(schedules("foreach-batch-append", Sizes(1, 1), seen))

    assert schedule.work(0, 0, 0) == {"line": line.text, "nth": 1}
    assert schedule.work(0, 0, -1) == {"line": end.text, "nth": 1}
    with pytest.raises(NotReplayable):
        schedule.work(0, 0, 1)


@pytest.mark.parametrize(
    ("fault", "do"), [("raise_in_task", "raise"), ("fail_in_task", "die")]
)
def test_an_error_in_a_task_is_raised_and_a_death_is_none(fault, do):
    """A handler around the line sees the one, and nothing sees the other."""
    first, second = (CodePoint(f"line {n} of x.py, put()") for n in (3, 4))
    end = CodePoint("the return of put()")
    seen = SeenPoints(tasks={(0, 0): (first, second, end)})
    shape = {"WORK": 2, "BATCH": 1, "PARTITION": 1, "faults": 1}
    protocol = InstrumentedMicroBatch(sink=UserCode(in_tasks=1), **shape)
    done = set()
    for one in interleavings(protocol).classes:
        [at] = one.faults or [0]
        if one.trace.events[at].name == fault:
            run = RunDraft(number=0, offered=1)
            try:
                fail_task(Schedule(one, protocol, {"write": WORK}, seen), run, at)
            except NotReplayable:
                continue
            done |= {rule.do for rule in run.rules if rule.function == WORK}

    assert done == {do}
