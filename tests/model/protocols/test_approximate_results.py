"""Approximate results: what a summary makes of the order of events, and of repeats."""

from __future__ import annotations

import pytest

from onceproof.model.protocols.approximate_results import (
    ApproximateResults,
    ApproximateResultsInPlace,
)
from onceproof.model.protocols.parts.sketches import (
    Bitmap,
    CountMinSketch,
    MajorityVote,
)
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict

MORE = {"at-most-once", "effectively-once", "batch-equivalence"}
OTHER = MORE | {"at-least-once", "recoverable"}
MISSES = {"misses-no-frequent-key"}


def refuted(protocol):
    """Return the claims that break."""
    found = check(protocol).verdicts.items()
    return {name for name, verdict in found if verdict is Verdict.REFUTED}


@pytest.mark.parametrize(
    ("protocol", "sketch", "breaks"),
    [
        (ApproximateResults, CountMinSketch, set()),
        (ApproximateResults, Bitmap, MISSES),
        (ApproximateResults, MajorityVote, OTHER),
        (ApproximateResultsInPlace, CountMinSketch, MORE),
        (ApproximateResultsInPlace, Bitmap, MISSES),
        (ApproximateResultsInPlace, MajorityVote, OTHER | MISSES),
    ],
)
def test_order_and_repeats_change_some_results(protocol, sketch, breaks):
    """Counters do not mind the order; a bitmap minds neither order nor repeats."""
    assert refuted(protocol(sketch=sketch)) == breaks


def test_another_order_shows_another_candidate_without_any_fault():
    """A batch run has the events by their numbers, and a stream in any order."""
    report = check(ApproximateResults(sketch=MajorityVote))

    found = next(f for f in report.findings if f.property.name == "batch-equivalence")
    assert found.trace is not None
    assert not any(event.fault for event in found.trace.events)
    taken = [e.members[0] for e in found.trace.events if e.name == "take"]
    assert taken != sorted(taken)


def test_a_repeat_needs_a_crash():
    """The store has the event, and its batch comes again: a key is shown too much."""
    report = check(ApproximateResultsInPlace())

    found = next(f for f in report.findings if f.property.name == "at-most-once")
    assert found.trace is not None
    assert [e.name for e in found.trace.events if e.fault] == ["crash"]


@pytest.mark.parametrize("sizes", [{"EVENT": 2, "KEY": 2}, {"EVENT": 9, "KEY": 1}])
def test_what_holds_does_so_with_fewer_and_with_more_events(sizes):
    """A counter has room for each of them."""
    assert refuted(ApproximateResults(**sizes)) == set()
