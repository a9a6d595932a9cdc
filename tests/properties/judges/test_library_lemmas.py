"""The lemmas of the library prove what its pages say they prove."""

from __future__ import annotations

import pytest

from onceproof.model.library import make
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import claims_of
from onceproof.properties.verdicts import Verdict

PROVED = {
    "filter-and-join": ("effectively-once", "batch-equivalence"),
    "kappa-architecture": ("effectively-once", "durable", "batch-equivalence"),
    "lambda-architecture": ("at-least-once", "durable", "batch-equivalence"),
    "non-blocking-commit": ("is-valid", "aborts-for-cause"),
    "transactional-outbox": ("effectively-once", "durable"),
    "two-phase-commit-log": ("agreement", "keeps-its-decision"),
    "write-ahead-log": ("at-most-once", "atomic-visibility", "durable"),
}
# Changes, attempts and versions are in an order, so a proof is for their number.
PROVED_BUT_FOR_ITS_ORDER = {
    "acknowledgement-tree": ("at-least-once", "durable"),
    "change-capture": ("effectively-once", "all-is-read"),
    "multi-version-store": ("effectively-once", "atomic-visibility"),
    "output-commit": ("effectively-once", "atomic-visibility", "durable"),
    "table-commit": ("at-most-once", "durable"),
}
# Batches and attempts are in an order; the number of partitions is open.
PROVED_OF_SINKS = {
    "append": ("at-least-once", "durable", "agreement"),
    "batch-ledger": ("effectively-once", "atomic-visibility", "durable"),
    "upsert": ("effectively-once", "durable", "agreement"),
    "upsert-whole": ("effectively-once", "atomic-visibility", "durable"),
}


def proofs(name, properties, *, infer=False, **parts):
    """Prove some claims of a protocol."""
    protocol = make(name, parts)
    chosen = [claim for claim in claims_of(protocol) if claim.name in properties]
    assert len(chosen) == len(properties)
    return prove(protocol, chosen, infer=infer).findings


@pytest.mark.parametrize("sink", PROVED_OF_SINKS)
def test_sinks_of_micro_batches_are_proved_for_every_number_of_partitions(sink):
    for found in proofs("micro-batch", PROVED_OF_SINKS[sink], sink=sink):
        assert found.verdict is Verdict.EXHAUSTED
        assert "inductive for every number of members of PARTITION" in found.note


@pytest.mark.parametrize("name", ["transactional-outbox", "acknowledgement-tree"])
def test_other_lemmas_are_inferred(name):
    """They prove it for every number of events, too."""
    names = ("at-least-once", "durable")
    for found in proofs(name, names, infer=True):
        assert found.verdict in (Verdict.PROVED, Verdict.EXHAUSTED)
        assert "inductive for every number of members of E" in found.note


@pytest.mark.parametrize("name", PROVED)
def test_its_lemmas_prove_a_protocol_for_every_size(name):
    for found in proofs(name, PROVED[name]):
        assert found.verdict is Verdict.PROVED
        assert "inductive for every number of members" in found.note


@pytest.mark.parametrize("name", PROVED_BUT_FOR_ITS_ORDER)
def test_a_sort_in_an_order_keeps_its_size_in_a_proof(name):
    for found in proofs(name, PROVED_BUT_FOR_ITS_ORDER[name]):
        assert found.verdict is Verdict.EXHAUSTED
        assert "inductive for every number of members" in found.note


@pytest.mark.parametrize(
    ("name", "lemma", "claim"),
    [
        ("filter-and-join", "keeps_what_is_done", "effectively-once"),
        ("output-commit", "grants_one_attempt", "effectively-once"),
        ("two-phase-commit-log", "commits_on_a_decision", "agreement"),
        ("table-commit", "writes_what_is_not_there", "at-most-once"),
        ("write-ahead-log", "logs_before_it_writes", "at-most-once"),
        ("kappa-architecture", "has_what_it_notes", "durable"),
        ("lambda-architecture", "counts_what_is_noted", "durable"),
        ("multi-version-store", "has_read_its_version", "atomic-visibility"),
        ("micro-batch", "keeps_what_is_committed", "at-least-once"),
    ],
)
def test_without_one_of_its_lemmas_a_proof_fails(name, lemma, claim, monkeypatch):
    monkeypatch.setattr(type(make(name, {})), lemma, None)

    (found,) = proofs(name, (claim,))

    assert found.verdict not in (Verdict.PROVED, Verdict.EXHAUSTED)
