"""The merges of ``delta-merge`` into Delta Lake, restarted with a new checkpoint.

The key is the event's own, so it does not matter which batch holds the event.
"""

from __future__ import annotations

from onceproof.model.protocols.micro_batch_new_checkpoint import MicroBatchNewCheckpoint
from onceproof.model.protocols.parts.sinks.recut import UpsertRecut
from onceproof.spark_checks.sinks.interface import ModelledSink
from onceproof.spark_checks.sinks.reference.delta.merge import build
from onceproof.spark_checks.stores.tables.delta import Delta

SINK = ModelledSink(
    name="delta-merge-new-checkpoint",
    build=build,
    model=UpsertRecut,
    engine=MicroBatchNewCheckpoint,
    steps={"sink.commit_batch": "merge_batch"},
    refuted=frozenset(),
    store=Delta(),
)
