"""foreachBatch that writes each batch by key, restarted with a new checkpoint.

The key is the event's own, so it does not matter which batch holds the event.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from onceproof.model.protocols.micro_batch_new_checkpoint import MicroBatchNewCheckpoint
from onceproof.model.protocols.parts.sinks.recut import UpsertRecut
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference import sqlite

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


def upsert_batch(database: str, rows: list[Row]) -> None:
    """Insert rows, or replace those whose key is there, in one transaction."""
    with closing(sqlite.connect(database)) as db:
        db.execute("BEGIN IMMEDIATE")
        sqlite.insert(db, rows, verb="INSERT OR REPLACE")
        db.execute("COMMIT")


def build(target: Target) -> ForeachBatch:
    """Write to a table whose key is the flight's."""
    database = sqlite.create(target.path, unique=True)

    def write(batch: DataFrame, batch_id: int) -> None:
        upsert_batch(database, batch.collect())

    return ForeachBatch(write, read=sqlite.reader(database))


SINK = ModelledSink(
    name="foreach-batch-upsert-new-checkpoint",
    build=build,
    model=UpsertRecut,
    engine=MicroBatchNewCheckpoint,
    steps={"sink.commit_batch": "upsert_batch"},
    refuted=frozenset(),
)
