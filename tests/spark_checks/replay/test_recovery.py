"""Lines that a sink's code runs only after a fault become points of their own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from onceproof.spark_checks.replay.recovery import with_recovery
from onceproof.spark_checks.replay.run_evidence import RunRecord
from onceproof.spark_checks.sinks.code_points import CodePoint, SeenPoints, place_of

KNOWN, REPAIR, OTHER = (
    place_of(n, "x.py", installed=False) + "write()" for n in (1, 2, 3)
)
THEIRS = place_of(1, "mylib/x.py", installed=True) + "put()"
SEEN = SeenPoints({0: (CodePoint(KNOWN),), 1: (CodePoint(KNOWN),)})


def after(fault, *runs):
    """Give the outcome of an interleaving with one fault."""
    trace = SimpleNamespace(events=("write(0)", fault))
    return SimpleNamespace(
        interleaving=SimpleNamespace(trace=trace, faults=(1,)), runs=runs
    )


def run(stop="", **ran):
    batches = {int(name.removeprefix("b")): texts for name, texts in ran.items()}
    return RunRecord((), stop, "", ran=batches)


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
