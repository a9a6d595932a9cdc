"""foreachBatch that inserts each partition in a transaction of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.stores.postgres.store import Postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, Row


def insert_rows(url: str, rows: list[Row]) -> None:
    """Insert rows, as Spark's JDBC sink does."""
    with psycopg.connect(url) as db:
        tables.insert(db, rows)


def build(target: Target) -> ForeachBatch:
    """Insert into a table without a key."""
    url = tables.create(target)

    def partition(rows: Iterator[Row]) -> None:
        insert_rows(url, list(rows))

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-insert",
    build=build,
    model=Append,
    steps={"write": "insert_rows"},
    refuted=frozenset({"at-most-once", "effectively-once", "atomic-visibility"}),
    store=Postgres(),
)
