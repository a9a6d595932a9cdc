"""Lines that a sink's code runs only after a fault become points of their own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from onceproof.model.language.steps import Event
from onceproof.spark_checks.replay.recovery import with_recovery
from onceproof.spark_checks.replay.run_evidence import Resumed, RunRecord
from onceproof.spark_checks.sinks.code_points import CodePoint, SeenPoints, place_of
from onceproof.spark_checks.sinks.exchanges import Exchange

KNOWN, REPAIR, OTHER = (
    place_of(n, "x.py", installed=False) + "write()" for n in (1, 2, 3)
)
THEIRS = place_of(1, "mylib/x.py", installed=True) + "put()"
SEEN = SeenPoints({0: (CodePoint(KNOWN),), 1: (CodePoint(KNOWN),)})


def after(fault, *runs):
    """Give the outcome of an interleaving with one fault."""
    name, batch = fault.removesuffix(")").split("(")
    events = (Event("write", (0,)), Event(name, (int(batch),), fault=True))
    trace = SimpleNamespace(events=events)
    return SimpleNamespace(
        interleaving=SimpleNamespace(trace=trace, faults=(1,)), runs=runs
    )


def run(stop="", *, went_on=(), **ran):
    batches = {int(name.removeprefix("b")): texts for name, texts in ran.items()}
    return RunRecord((), stop, "", ran=batches, went_on=dict(went_on))


def test_a_line_of_the_restarted_run_is_added_with_the_faults_that_lead_to_it():
    """It comes after all points of its batch, and in no other batch."""
    outcomes = [
        after("crash(1)", run("crash(1)", b0=(KNOWN,)), run(b0=(KNOWN, REPAIR))),
        after("crash(2)", run("crash(2)"), run(b0=(REPAIR, OTHER))),
    ]

    found = with_recovery(SEEN, outcomes)

    assert [point.text for point in found.driver[0]] == [KNOWN, REPAIR, OTHER]
    assert found.driver[1] == SEEN.driver[1]
    assert found.leads == {
        (0, REPAIR): {"crash(1)", "crash(2)"},
        (0, OTHER): {"crash(2)"},
    }
    assert found.sizes["LINE"] == 3


@pytest.mark.parametrize(
    "line",
    [THEIRS, KNOWN, f"the return of {REPAIR}"],
    ids=["installed", "known", "return"],
)
def test_other_lines_are_not_added(line):
    """They are points already, or no code of the user's own."""
    found = with_recovery(SEEN, [after("crash(1)", run("crash(1)"), run(b0=(line,)))])

    assert found.driver == SEEN.driver
    assert not found.leads


def test_what_runs_as_the_fault_ends_the_run_is_not_added():
    """A handler ends with its run: a restarted query does not come there."""
    found = with_recovery(SEEN, [after("fail(1)", run("fail(1)", b0=(REPAIR,)), run())])

    assert found.driver == SEEN.driver


def test_what_runs_as_the_code_goes_on_after_a_broken_connection_is_added():
    """A line that runs once more is a point too: a crash may hit it a second time."""
    again = CodePoint(KNOWN, 2)
    lost = run(went_on={0: (CodePoint(KNOWN), again, CodePoint(OTHER))})

    found = with_recovery(SEEN, [after("lose_reply_in_commit(0)", lost)])

    caught = "catch_lost_reply_in_commit(0)"
    assert found.driver[0] == (CodePoint(KNOWN), again, CodePoint(OTHER))
    assert found.leads == {(0, str(again)): {caught}, (0, OTHER): {caught}}
    assert found.caught == {caught: {KNOWN, str(again), OTHER}}


FIRST, AGAIN = Exchange("line 1", 1, 1, 1, 1), Exchange("line 1", 2, 1, 2, 1)


def after_a_task(members, one):
    """Give the outcome of an interleaving with a lost reply in a task, or a driver."""
    names = {2: "lose_reply_in_commit", 4: "lose_reply_in_task"}
    events = (Event(names[len(members)], members, fault=True),)
    trace = SimpleNamespace(events=events)
    record = RunRecord((), "", "", resumed=(one,))
    return SimpleNamespace(
        interleaving=SimpleNamespace(trace=trace, faults=(0,)), runs=(record,)
    )


def test_what_a_task_runs_as_it_goes_on_is_added_under_the_number_of_spark():
    """The model's partition 0 is Spark's 1 there: a second fault hits it again."""
    end = CodePoint("the return of put()")
    seen = SeenPoints(tasks={(0, 1): (CodePoint(KNOWN), CodePoint(OTHER), end)})
    again = CodePoint(KNOWN, 2)

    lost = Resumed(0, 1, (CodePoint(OTHER), again, end), (FIRST, AGAIN))
    found = with_recovery(seen, [after_a_task((0, 0, 0, 1), lost)])

    caught = "catch_lost_reply_in_task(0, 1, 0, 1)"
    assert found.tasks == seen.tasks
    assert found.later == {(0, 1): (again,)}
    assert found.work(0) == ((1, CodePoint(KNOWN)), (1, CodePoint(OTHER)), (1, again))
    assert found.caught == {caught: {OTHER, str(again), str(end)}}
