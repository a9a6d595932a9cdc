"""foreachBatch with the ids of finished batches in the transaction of their rows."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference import sqlite

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


def write_batch(database: str, rows: list[Row], batch_id: int) -> None:
    """Commit the rows and the batch's id together, unless the id is there."""
    with closing(sqlite.connect(database)) as db:
        db.execute("BEGIN IMMEDIATE")
        known = "SELECT 1 FROM ledger WHERE batch_id = ?"
        if db.execute(known, (batch_id,)).fetchone() is None:
            sqlite.insert(db, rows)
            db.execute("INSERT INTO ledger VALUES (?)", (batch_id,))
        db.execute("COMMIT")


def build(target: Target) -> ForeachBatch:
    """Skip batches whose id the database holds."""
    database = sqlite.create(target.path, ledger="batch_id INTEGER PRIMARY KEY")

    def write(batch: DataFrame, batch_id: int) -> None:
        write_batch(database, batch.collect(), batch_id)

    return ForeachBatch(write, read=sqlite.reader(database))


SINK = ModelledSink(
    name="foreach-batch-ledger",
    build=build,
    model=BatchLedger,
    steps={"sink.write_batch": "write_batch"},
    refuted=frozenset(),
)
