"""Where a run's code returned is reported, and what it left out."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from onceproof.properties.guarantees import AT_LEAST_ONCE, EFFECTIVELY_ONCE
from onceproof.properties.ledger import EventOutcome, History, Row
from onceproof.spark_checks.replay.outcome import Outcome
from onceproof.spark_checks.replay.run_evidence import RunRecord
from onceproof.spark_checks.report.explanation import because
from onceproof.spark_checks.sinks.code_points import (
    CodePoint,
    SeenPoints,
    place_of,
    point_text,
)


def line(number, source, function="write"):
    place = place_of(number, "sink.py", installed=False)
    return point_text(f"{place}{function}(): {source}")


MARKED = line(7, "if done.exists():", "marked")
KNOWN = line(8, "return True", "marked")
ASKS = line(3, "if marked(done):")
WRITES = line(4, "batch.write.parquet(path)")
BLOCK = point_text(line(2, "with lock:"), ends=True)
RETURN = point_text("write() of sink.py", returns=True)
CLEANS = line(9, "path.unlink()", "cleaned")


def seen(*lines, leads=()):
    """Make what the fault-free run reached in batch 0, and what a fault leads to."""
    points = tuple(map(CodePoint, lines))
    led = {(0, text): frozenset({"crash"}) for text in leads}
    return SeenPoints(driver={0: points}, callback=True, leads=led)


def told(run, found):
    """Give the sentence about the second run, which is given batch 0 again."""
    lost = (EventOutcome(promised=False, visible=0),) * 2
    moments = ("after crash()", "at rest")
    row = Row(0, accepted=True, outcomes=lost, events=4)
    runs = (
        RunRecord(("the process dies",), "crash()", moments[0], {0: (ASKS, MARKED)}),
        run,
    )
    one = SimpleNamespace(number=1)
    ledger = History(moments, (row,), (0, 0), rested=True)
    outcome = Outcome(one, None, ledger, (), 0.0, runs=runs)
    sentences = because(outcome, AT_LEAST_ONCE, found)
    [sentence] = [one for one in sentences if "run 2 gave" in one]
    return sentence.partition("to your code: it ")[2]


def run(*points, **rest):
    return RunRecord((), "", "at rest", {0: points}, **rest)


def test_a_run_that_returns_early_is_said_to_have_left_out_a_line():
    """The cause of a loss is the line after which it usually goes on."""
    found = told(run(MARKED, RETURN), seen(MARKED, WRITES))

    assert found == f"returned after {MARKED}, and did not run {WRITES}"


def test_the_line_at_which_the_ways_part_is_named_too():
    """Here it asked a helper, and that has returned something else."""
    found = told(run(ASKS, MARKED, KNOWN, BLOCK, RETURN), seen(ASKS, MARKED, WRITES))

    assert found == (
        f"returned after {KNOWN}, and did not run {WRITES}, "
        f"which follows {MARKED} without a fault"
    )


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (run(ASKS, MARKED, WRITES, RETURN), seen(ASKS, MARKED, WRITES)),
        (run(ASKS, CLEANS, WRITES, RETURN), seen(ASKS, WRITES)),
        (run(ASKS, RETURN), seen(ASKS, CLEANS, leads=[CLEANS])),
        (run(ASKS, RETURN, in_threads=frozenset([WRITES])), seen(ASKS, WRITES)),
        (run(ASKS, RETURN), seen(ASKS, BLOCK, RETURN)),
        (run(ASKS, RETURN), None),
    ],
    ids=["all", "more", "after a fault alone", "in a thread", "no line", "a model's"],
)
def test_a_run_that_leaves_out_no_line_ran_to_its_end(one, found):
    """Lines of other threads count, and lines that only a fault leads to do not."""
    assert told(one, found) == "ran to its end"


def test_a_run_that_did_not_return_is_said_to_have_come_so_far():
    """Whatever it would have run."""
    assert told(run(ASKS), seen(ASKS, WRITES)) == f"ran up to {ASKS}"


@pytest.mark.parametrize(
    ("visible", "promised", "expected"),
    [
        (0, False, "not visible"),
        (0, True, "not visible, though the commit log names batch 3"),
        (2, False, "visible twice"),
        (2, True, "visible twice"),
    ],
)
def test_a_commit_is_named_only_where_it_contradicts_what_is_seen(
    visible, promised, expected
):
    """A committed batch may be missing in spite of its commit, never twice for it."""
    ended = EventOutcome(promised=promised, visible=visible)
    row = Row(3, accepted=True, outcomes=(ended,), events=4)
    ledger = History(("at rest",), (row,), (0,), rested=True)
    runs = (RunRecord((), "", "at rest"),)
    outcome = Outcome(SimpleNamespace(number=1), None, ledger, (), 0.0, runs=runs)

    sentences = because(outcome, EFFECTIVELY_ONCE)

    assert f"4 events of batch 3 are {expected}" in sentences
