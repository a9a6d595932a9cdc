"""foreachBatch with the ids of finished batches outside the transaction of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from onceproof.model.protocols.parts.sinks.ledger_apart import LedgerAfter
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.stores.postgres.store import Postgres

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


def write_rows(url: str, rows: list[Row]) -> None:
    """Commit the rows."""
    with psycopg.connect(url) as db:
        tables.insert(db, rows)


def write_ledger(url: str, batch_id: int) -> None:
    """Commit the batch's id."""
    with psycopg.connect(url) as db:
        db.execute("INSERT INTO ledger VALUES (%s)", (batch_id,))


def in_ledger(url: str, batch_id: int) -> bool:
    """Return whether the batch's id is there."""
    with psycopg.connect(url) as db:
        known = "SELECT 1 FROM ledger WHERE batch_id = %s"
        return db.execute(known, (batch_id,)).fetchone() is not None


def build(target: Target) -> ForeachBatch:
    """Write the rows, then the batch's id."""
    url = tables.create(target, ledger="batch_id bigint PRIMARY KEY")

    def write(batch: DataFrame, batch_id: int) -> None:
        if in_ledger(url, batch_id):
            return
        write_rows(url, batch.collect())
        write_ledger(url, batch_id)

    return ForeachBatch(write, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-ledger-apart",
    build=build,
    model=LedgerAfter,
    steps={"sink.write_rows": "write_rows", "sink.write_ledger": "write_ledger"},
    refuted=frozenset({"at-most-once", "effectively-once"}),
    store=Postgres(),
)
