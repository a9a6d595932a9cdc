"""foreachBatch with a deduplication table in the transaction of the rows.

The table of flights has no key: it could as well be a sum. Each task notes the keys of
its rows, and in the same transaction writes the rows whose key was not noted.
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

CREATE = "CREATE TABLE deduplication (flight_id text PRIMARY KEY)"
MARK = (
    "INSERT INTO deduplication SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING "
    "RETURNING flight_id"
)


def write_new(url: str, rows: list[Row]) -> None:
    """Note the keys, and insert the first row of each key that was not noted."""
    by_key = {row.flight_id: row for row in reversed(rows)}
    with psycopg.connect(url) as db:
        noted = db.execute(MARK, (list(by_key),)).fetchall()
        tables.insert(db, [by_key[key] for (key,) in noted])


def build(target: Target) -> ForeachBatch:
    """Write to a table without a key, beside the table of keys."""
    url = tables.create(target)
    with psycopg.connect(url) as db:
        db.execute(CREATE)

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
