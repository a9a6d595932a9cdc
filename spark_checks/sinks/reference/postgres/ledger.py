"""foreachBatch with the ids of finished batches in the transaction of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.stores.postgres.store import Postgres

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

MARK = "INSERT INTO ledger VALUES (%s) ON CONFLICT DO NOTHING"


def write_batch(url: str, rows: list[Row], batch_id: int) -> None:
    """Commit the rows and the batch's id together, unless the id is there."""
    with psycopg.connect(url) as db:
        if db.execute(MARK, (batch_id,)).rowcount:
            tables.insert(db, rows)


def build(target: Target) -> ForeachBatch:
    """Skip batches whose id the database holds."""
    url = tables.create(target, ledger="batch_id bigint PRIMARY KEY")

    def write(batch: DataFrame, batch_id: int) -> None:
        write_batch(url, batch.collect(), batch_id)

    return ForeachBatch(write, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-ledger",
    build=build,
    model=BatchLedger,
    steps={"sink.write_batch": "write_batch"},
    refuted=frozenset(),
    store=Postgres(),
)
