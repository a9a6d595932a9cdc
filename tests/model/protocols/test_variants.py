"""What a variant of a part breaks, and what it leaves as it was."""

from __future__ import annotations

import pytest

from onceproof.model.library import make
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict

BROKEN = [
    ("transactions", {"log": "read-uncommitted"}, {"durable"}),
    (
        "idempotent-producer",
        {"sequence": "window-of-one"},
        {"at-most-once", "effectively-once"},
    ),
    (
        "two-phase-commit-log",
        {"coordinator": "sent-before-logged"},
        {
            "agreement",
            "valid",
            "commits-on-a-decision",
            "coordinator.acts-on-its-log",
        },
    ),
    (
        "two-phase-commit-sink",
        {"output": "transaction-timeout"},
        {"at-least-once", "effectively-once", "durable", "recoverable"},
    ),
    (
        "table-commit",
        {"log": "catalog-lock"},
        {"at-least-once", "effectively-once", "durable", "recoverable"},
    ),
]


def refuted(name: str, changes: dict[str, str]) -> set[str]:
    """Name the claims that the search refutes."""
    found = check(make(name, changes)).verdicts
    assert Verdict.UNDECIDED not in found.values()
    return {claim for claim, verdict in found.items() if verdict is Verdict.REFUTED}


@pytest.mark.parametrize(("name", "changes", "expected"), BROKEN)
def test_a_variant_breaks_what_its_standard_part_keeps(name, changes, expected):
    assert not refuted(name, {})
    assert refuted(name, changes) == expected


def test_a_key_that_is_drawn_anew_finds_no_row_to_replace():
    by_key = refuted("micro-batch", {"sink": "upsert"})

    assert by_key == {"atomic-visibility"}
    drawn = refuted("micro-batch", {"sink": "drawn-key"})
    assert drawn == by_key | {"at-most-once", "effectively-once"}
