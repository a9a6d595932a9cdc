"""Hudi's own streaming writer, restarted with a new checkpoint.

Batch ids start from 0 again and name other events. What the table holds under an id is
skipped: the name beside the id does not depend on the checkpoint.
"""

from __future__ import annotations

from onceproof.model.protocols.micro_batch_new_checkpoint import MicroBatchNewCheckpoint
from onceproof.model.protocols.parts.sinks.recut import BatchLedgerRecut
from onceproof.spark_checks.sinks.interface import ModelledSink
from onceproof.spark_checks.sinks.reference.hudi import stream
from onceproof.spark_checks.stores.tables.hudi import Hudi

SINK = ModelledSink(
    name="hudi-stream-new-checkpoint",
    build=stream.build,
    model=BatchLedgerRecut,
    engine=MicroBatchNewCheckpoint,
    refuted=frozenset({"at-least-once", "effectively-once", "durable", "recoverable"}),
    store=Hudi(),
)
