"""What a restart with an empty checkpoint does to sinks, by search."""

from __future__ import annotations

import pytest

from onceproof.model.protocols.micro_batch_new_checkpoint import MicroBatchNewCheckpoint
from onceproof.model.protocols.parts.sinks.recut import (
    AppendRecut,
    BatchLedgerRecut,
    UpsertRecut,
)
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict

LOSES = {"at-least-once", "effectively-once", "durable", "recoverable"}
REPEATS = {"at-most-once", "effectively-once"}


@pytest.mark.parametrize(
    ("sink", "checkpoints", "refuted"),
    [
        (UpsertRecut, 1, set()),
        (AppendRecut, 1, REPEATS),
        (BatchLedgerRecut, 1, LOSES),
        (BatchLedgerRecut, 0, set()),
    ],
)
def test_what_a_sink_goes_by_decides_what_becomes_of_events(sink, checkpoints, refuted):
    """A key of the event survives; no key repeats; the batch's number loses."""
    protocol = MicroBatchNewCheckpoint(sink=sink, checkpoints=checkpoints)

    found = check(protocol, guarantees_of(protocol)).verdicts

    assert {name for name, v in found.items() if v is Verdict.REFUTED} == refuted
