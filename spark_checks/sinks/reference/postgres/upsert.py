"""foreachBatch that writes each partition by key."""

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


def upsert_rows(url: str, rows: list[Row]) -> None:
    """Insert the rows whose key is not there."""
    with psycopg.connect(url) as db:
        tables.insert(db, rows, statement=tables.UPSERT)


def build(target: Target) -> ForeachBatch:
    """Write to a table whose key is the flight's."""
    url = tables.create(target, unique=True)

    def partition(rows: Iterator[Row]) -> None:
        upsert_rows(url, list(rows))

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-upsert",
    build=build,
    model=Upsert,
    steps={"write": "upsert_rows"},
    refuted=frozenset({"atomic-visibility"}),
    store=Postgres(),
)
