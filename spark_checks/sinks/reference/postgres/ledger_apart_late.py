"""foreachBatch that commits rows and then the batch's id, whose requests may be late.

Either transaction may be committed once the batch is done without it. The rows are then
there twice; the id is a key, and was inserted already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from onceproof.model.protocols.micro_batch_unreliable import MicroBatchUnreliable
from onceproof.model.protocols.parts.sinks.ledger_apart import LedgerAfter
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.sinks.reference.postgres.ledger_apart import (
    in_ledger,
    write_rows,
)
from onceproof.spark_checks.stores.postgres.store import Postgres
from onceproof.spark_checks.stores.unreliable import Unreliable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def write_ledger(url: str, batch_id: int) -> None:
    """Commit the batch's id, unless it is there."""
    with psycopg.connect(url) as db:
        done = "INSERT INTO ledger VALUES (%s) ON CONFLICT DO NOTHING"
        db.execute(done, (batch_id,))


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
    name="postgres-ledger-apart-late",
    build=build,
    model=LedgerAfter,
    engine=MicroBatchUnreliable,
    parameters={"retries": 0},
    steps={"sink.write_rows": "write_rows", "sink.write_ledger": "write_ledger"},
    refuted=frozenset({"at-most-once", "effectively-once"}),
    store=Unreliable(Postgres()),
)
