"""foreachBatch with the ids of finished batches, restarted with a new checkpoint.

Batch ids start from 0 again and name other events. What the database holds under an id
is skipped: if the first batch holds more than it did before, the rest is lost.
"""

from __future__ import annotations

from onceproof.model.protocols.micro_batch_new_checkpoint import MicroBatchNewCheckpoint
from onceproof.model.protocols.parts.sinks.recut import BatchLedgerRecut
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference import batch_ledger


def build(target: Target) -> ForeachBatch:
    """Build the same sink as ``foreach-batch-ledger``."""
    return batch_ledger.build(target)


SINK = ModelledSink(
    name="foreach-batch-ledger-new-checkpoint",
    build=build,
    model=BatchLedgerRecut,
    engine=MicroBatchNewCheckpoint,
    steps={"sink.commit_batch": "write_batch"},
    refuted=frozenset({"at-least-once", "effectively-once", "durable", "recoverable"}),
)
