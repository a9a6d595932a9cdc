"""A log of numbers makes retries harmless for as long as it outlives them."""

from __future__ import annotations

import pytest

from onceproof.model.library import make
from onceproof.properties.judges.by_search import check


def shortest(**parts: str) -> list[str]:
    """Return the steps of a shortest run in which an event counts twice."""
    report = check(make("deduplication-log", parts))
    finding = next(f for f in report.findings if f.property.name == "at-most-once")
    assert finding.trace is not None
    return [event.name for event in finding.trace.events]


@pytest.mark.ci
def test_a_log_that_expires_before_the_last_retry_counts_twice():
    """A retry finds no number in the log, and needs no crash to do so."""
    found = shortest(collection="collects-by-age")

    assert "sender_restarts" not in found
    assert found.count("apply") == 2
    assert found.index("collect") < len(found) - 1
    assert found[-1] == "apply"


@pytest.mark.ci
def test_weak_productions_need_an_effect_that_is_idempotent():
    """A restarted sender gives a new number; an overwritten row takes no harm."""
    found = shortest(productions="weak-productions")

    held = check(
        make(
            "deduplication-log",
            {"productions": "weak-productions", "effect": "overwrites"},
        )
    )

    again = ["produce", "send", "apply"]
    assert found == [*again, "sender_restarts", *again]
    assert str(held.verdicts["effectively-once"]) == "exhausted"
