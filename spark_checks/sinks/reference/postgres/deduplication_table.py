"""foreachBatch with the keys of the rows that are there in a table of their own.

The table of flights has no key: it could as well be a sum, or a message that is sent.
Each task notes the keys of its rows in the deduplication table, and in the same
transaction writes the rows whose key was not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from onceproof.model.protocols.parts.sinks.upsert import Upsert
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.stores.postgres.store import Postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, Row

MARK = (
    "INSERT INTO ledger SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING "
    "RETURNING flight_id"
)


def write_new(url: str, rows: list[Row]) -> None:
    """Note the keys, and insert the rows whose key was not noted."""
    with psycopg.connect(url) as db:
        marked = db.execute(MARK, ([row.flight_id for row in rows],)).fetchall()
        new = {key for (key,) in marked}
        tables.insert(db, [row for row in rows if row.flight_id in new])


def build(target: Target) -> ForeachBatch:
    """Write to a table without a key, beside the table of keys."""
    url = tables.create(target, ledger="flight_id text PRIMARY KEY")

    def partition(rows: Iterator[Row]) -> None:
        write_new(url, list(rows))

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-deduplication-table",
    build=build,
    model=Upsert,
    steps={"write": "write_new"},
    refuted=frozenset({"atomic-visibility"}),
    store=Postgres(),
)
