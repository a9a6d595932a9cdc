"""What at-least-once delivery needs beside it, and what breaks that."""

from __future__ import annotations

import pytest

from onceproof.model.library import make
from onceproof.properties.judges.by_search import check


def shortest(name: str, breaks: str, **parts: str) -> list[str]:
    """Return the steps of a shortest run that breaks a property."""
    report = check(make(name, parts))
    finding = next(f for f in report.findings if f.property.name == breaks)
    assert finding.trace is not None
    return [event.name for event in finding.trace.events]


def test_a_tree_is_replayed_whole():
    """A half that is written is written again, although no tuple was lost."""
    found = shortest("acknowledgement-tree", "at-most-once")

    assert found == ["emit", "split", "write", "time_out", "split", "write"]


def test_nobody_waits_for_a_tuple_without_an_anchor():
    """The spout forgets the event before its halves are written."""
    found = shortest("acknowledgement-tree", "durable", anchoring="unanchored")

    assert found == ["emit", "split", "complete"]


@pytest.mark.parametrize("breaks", ["at-most-once", "at-least-once"])
def test_a_state_that_skips_by_number_needs_the_same_batch_again(breaks):
    """The batch that is skipped holds other events than the one that was applied."""
    right = check(make("ordered-batches", {"kept": "transactional-state"}))

    found = shortest("ordered-batches-mismatched", breaks)

    assert str(right.verdicts["effectively-once"]) == "exhausted"
    assert [step for step in found if step != "emit"][:3] == ["apply", "die", "apply"]
