"""The appends of ``delta-txn`` to Delta Lake, restarted with a new checkpoint.

Batch ids start from 0 again, and ``txnAppId`` is still the same. Delta skips a write
whose ``txnVersion`` is not beyond the last one, whatever its rows are.
"""

from __future__ import annotations

from onceproof.model.protocols.micro_batch_new_checkpoint import MicroBatchNewCheckpoint
from onceproof.model.protocols.parts.sinks.recut import BatchLedgerRecut
from onceproof.spark_checks.sinks.interface import ModelledSink
from onceproof.spark_checks.sinks.reference.delta.txn import build
from onceproof.spark_checks.stores.tables.delta import Delta

SINK = ModelledSink(
    name="delta-txn-new-checkpoint",
    build=build,
    model=BatchLedgerRecut,
    engine=MicroBatchNewCheckpoint,
    steps={"sink.commit_batch": "write_batch"},
    refuted=frozenset({"at-least-once", "effectively-once", "durable", "recoverable"}),
    store=Delta(),
)
