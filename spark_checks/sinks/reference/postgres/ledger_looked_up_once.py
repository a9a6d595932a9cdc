"""foreachBatch that looks up its batch once, and may then try twice to commit it.

A driver that starts again looks up the batch again, so no crash shows the defect. If
the transaction was committed but the reply was lost, the second try repeats it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from onceproof.model.protocols.micro_batch_unreliable import MicroBatchUnreliable
from onceproof.model.protocols.parts.sinks.batch_ledger import LedgerLookedUpOnce
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.stores.postgres.store import Postgres
from onceproof.spark_checks.stores.unreliable import Unreliable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


def is_done(url: str, batch_id: int) -> bool:
    """Look a batch up."""
    with psycopg.connect(url) as db:
        known = db.execute("SELECT 1 FROM ledger WHERE batch_id = %s", (batch_id,))
        return known.fetchone() is not None


def write_batch(url: str, rows: list[Row], batch_id: int) -> None:
    """Commit the rows and the batch's id together."""
    with psycopg.connect(url) as db:
        tables.insert(db, rows)
        db.execute("INSERT INTO ledger VALUES (%s)", (batch_id,))


def build(target: Target) -> ForeachBatch:
    """Keep a ledger without a key."""
    url = tables.create(target, ledger="batch_id bigint")

    def write(batch: DataFrame, batch_id: int) -> None:
        if not is_done(url, batch_id):
            tables.again(write_batch, url, batch.collect(), batch_id)

    return ForeachBatch(write, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-ledger-looked-up-once",
    build=build,
    model=LedgerLookedUpOnce,
    engine=MicroBatchUnreliable,
    steps={"sink.write_batch": "write_batch"},
    refuted=frozenset({"at-most-once", "effectively-once"}),
    store=Unreliable(Postgres()),
)
