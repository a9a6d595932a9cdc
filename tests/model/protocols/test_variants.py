"""What a variant of a part breaks, and what it leaves as it was."""

from __future__ import annotations

import pytest

from onceproof.model.library import make
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict

BROKEN = [
    (
        "transactions",
        {"reader": "read-uncommitted"},
        {"at-most-once", "effectively-once"},
    ),
    (
        "multi-version-store",
        {"numbering": "version-of-try"},
        {"at-most-once", "effectively-once"},
    ),
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
        "transactions",
        {"coordinator": "unfenced-expiry"},
        {"at-least-once", "effectively-once", "durable", "recoverable"},
    ),
    (
        "transactions",
        {"local": "kept-checkpoint"},
        {"at-most-once", "effectively-once"},
    ),
    (
        "barrier-snapshot",
        {"checkpoints": "discards-unanswered"},
        {"at-least-once", "effectively-once", "durable", "recoverable"},
    ),
    (
        "ordered-batches",
        {"order": "as-they-come"},
        {"at-most-once", "effectively-once"},
    ),
    (
        "deduplication-log",
        {"log": "log-afterwards"},
        {"at-most-once", "effectively-once"},
    ),
    (
        "transactional-outbox",
        {"relay": "removes-first"},
        {
            "at-least-once",
            "effectively-once",
            "recoverable",
            "has-each-message-somewhere",
        },
    ),
    ("kafka-streams", {"results": "results-fenced"}, {"durable"}),
    (
        "kafka-streams",
        {"results": "results-upserted"},
        {
            "at-least-once",
            "effectively-once",
            "durable",
            "recoverable",
            "batch-equivalence",
        },
    ),
    (
        "two-phase-commit-sink",
        {"output": "overtaken-committable"},
        {"at-least-once", "effectively-once", "recoverable"},
    ),
    ("ordered-batches", {"kept": "opaque-state-per-key"}, set()),
    (
        "kafka-streams",
        {"results": "results-added"},
        {"at-most-once", "effectively-once", "batch-equivalence"},
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


def test_a_tree_delivers_at_least_once_and_a_write_by_key_makes_that_once():
    """What Storm promises is no more; what is written decides the rest."""
    once = {"at-most-once", "effectively-once"}

    assert refuted("acknowledgement-tree", {}) == once
    assert refuted("acknowledgement-tree", {"effect": "overwrites"}) == set()
    tuples = {"effect": "overwrites", "anchoring": "unanchored"}
    assert "durable" in refuted("acknowledgement-tree", tuples)


def test_an_earlier_batch_is_applied_again_once_a_later_one_is_there():
    """The state has the number of the later one, whatever it keeps beside that."""
    for kept in ("opaque-state", "transactional-state"):
        parts = {"order": "as-they-come", "kept": kept}

        assert refuted("ordered-batches", parts) == {"at-most-once", "effectively-once"}


def test_a_key_that_a_batch_no_longer_holds_counts_twice():
    """Trident's map of values under a spout that may emit other events."""
    parts = {"kept": "opaque-state-per-key"}

    once = {"at-most-once", "effectively-once"}
    assert refuted("ordered-batches-opaque", parts) == once


@pytest.mark.parametrize(
    "lossy",
    [{"alignment": "unaligned-without-channels"}, {"source": "confirming-position"}],
)
def test_what_was_never_written_is_promised_too(lossy):
    """A checkpoint has passed the event, and no transaction is left to commit."""
    parts = {"output": "transactional-sink", **lossy}

    assert "durable" in refuted("barrier-snapshot", parts)


def test_a_key_that_is_drawn_anew_finds_no_row_to_replace():
    by_key = refuted("micro-batch", {"sink": "upsert"})

    assert by_key == {"atomic-visibility"}
    drawn = refuted("micro-batch", {"sink": "drawn-key"})
    assert drawn == by_key | {"at-most-once", "effectively-once"}


@pytest.mark.parametrize(
    ("drawn", "broken"),
    [
        ("drawn-key", {"at-most-once", "effectively-once"}),
        ("drawn-value", {"at-least-once", "effectively-once", "durable"}),
    ],
)
def test_a_repeat_harms_an_upsert_of_what_is_drawn_anew(drawn, broken):
    """By a key and a value that stay, it does not."""
    assert broken <= refuted("micro-batch", {"sink": drawn})
    assert not broken & refuted("micro-batch", {"sink": "upsert"})
