"""A message is neither lost nor repeated if each note is in the right transaction."""

from __future__ import annotations

import pytest

from onceproof.model.library import make
from onceproof.properties.judges.by_search import check


@pytest.mark.ci
@pytest.mark.parametrize(
    ("slot", "choice", "breaks", "steps"),
    [
        (
            "table",
            "deduplication-table-before",
            "durable",
            "write_row publish read consumer_dies skip",
        ),
        (
            "table",
            "deduplication-table-after",
            "at-most-once",
            "write_row publish read commit consumer_dies read commit",
        ),
        (
            "table",
            "no-deduplication-key",
            "at-most-once",
            "write_row publish read commit consumer_dies read commit",
        ),
        (
            "outbox",
            "outbox-afterwards",
            "recoverable",
            "write_row outbox.service_dies",
        ),
    ],
)
def test_a_note_in_another_transaction_loses_or_repeats(slot, choice, breaks, steps):
    """The crash falls between the two transactions."""
    report = check(make("transactional-outbox", {slot: choice}))

    found = next(f.trace for f in report.findings if f.property.name == breaks)

    assert found is not None
    assert [event.name for event in found.events] == steps.split()
