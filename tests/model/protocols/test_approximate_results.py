"""Approximate results: what a summary makes of the order of events, and of repeats."""

from __future__ import annotations

import pytest

from onceproof.model.protocols.approximate_results import (
    ApproximateResults,
    ApproximateResultsInPlace,
)
from onceproof.model.protocols.parts.summaries import Candidate, Counters, Marks
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict

EXACT = ("at-least-once", "effectively-once", "recoverable")


def refuted(protocol):
    """Return the claims that break."""
    found = check(protocol).verdicts.items()
    return {name for name, verdict in found if verdict is Verdict.REFUTED}


@pytest.mark.parametrize(
    ("protocol", "summary", "breaks"),
    [
        (ApproximateResults, Counters, ()),
        (ApproximateResults, Marks, EXACT),
        (ApproximateResults, Candidate, ("batch-equivalence",)),
        (ApproximateResultsInPlace, Counters, ("batch-equivalence",)),
        (ApproximateResultsInPlace, Marks, EXACT),
        (ApproximateResultsInPlace, Candidate, (*EXACT, "batch-equivalence")),
    ],
)
def test_order_and_repeats_change_some_results(protocol, summary, breaks):
    """Counters do not mind the order, marks neither order nor repeats."""
    assert refuted(protocol(summary=summary)) == set(breaks)


def test_another_order_shows_another_candidate_without_any_fault():
    """A batch run has the events in their order, and a stream in any."""
    report = check(ApproximateResults(summary=Candidate))

    found = next(f for f in report.findings if f.property.name == "batch-equivalence")
    assert found.trace is not None
    assert not any(event.fault for event in found.trace.events)
    taken = [e.members[0] for e in found.trace.events if e.name == "take"]
    assert taken != sorted(taken)


def test_a_repeat_needs_a_crash():
    """The store has the event, and its batch comes again."""
    report = check(ApproximateResultsInPlace())

    found = next(f for f in report.findings if f.property.name == "batch-equivalence")
    assert found.trace is not None
    assert [e.name for e in found.trace.events if e.fault] == ["crash"]


@pytest.mark.parametrize("sizes", [{"EVENT": 2, "KEY": 2}, {"EVENT": 9, "KEY": 1}])
def test_what_holds_does_so_with_fewer_and_with_more_events(sizes):
    """A counter has room for each of them."""
    assert refuted(ApproximateResults(**sizes)) == set()
