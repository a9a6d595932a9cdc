"""foreachBatch with the ids of finished batches outside the transaction of the rows."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.ledger_apart import LedgerAfter
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference import sqlite

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


def write_rows(database: str, rows: list[Row]) -> None:
    """Commit the rows."""
    with closing(sqlite.connect(database)) as db:
        db.execute("BEGIN IMMEDIATE")
        sqlite.insert(db, rows)
        db.execute("COMMIT")


def write_ledger(database: str, batch_id: int) -> None:
    """Commit the batch's id."""
    with closing(sqlite.connect(database)) as db:
        db.execute("INSERT INTO ledger VALUES (?)", (batch_id,))


def in_ledger(database: str, batch_id: int) -> bool:
    """Return whether the batch's id is there."""
    with closing(sqlite.connect(database)) as db:
        known = "SELECT 1 FROM ledger WHERE batch_id = ?"
        return db.execute(known, (batch_id,)).fetchone() is not None


def build(target: Target) -> ForeachBatch:
    """Write the rows, then the batch's id."""
    database = sqlite.create(target.path, ledger="batch_id INTEGER PRIMARY KEY")

    def write(batch: DataFrame, batch_id: int) -> None:
        if in_ledger(database, batch_id):
            return
        write_rows(database, batch.collect())
        write_ledger(database, batch_id)

    return ForeachBatch(write, read=sqlite.reader(database))


SINK = ModelledSink(
    name="foreach-batch-ledger-apart",
    build=build,
    model=LedgerAfter,
    steps={"sink.write_rows": "write_rows", "sink.write_ledger": "write_ledger"},
    refuted=frozenset({"at-most-once", "effectively-once"}),
)
