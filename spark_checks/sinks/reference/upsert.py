"""foreachBatch that writes each partition by key."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.upsert import Upsert
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference import sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, Row


def upsert_rows(database: str, rows: list[Row]) -> None:
    """Insert rows, or replace those whose key is there."""
    with closing(sqlite.connect(database)) as db:
        db.execute("BEGIN IMMEDIATE")
        sqlite.insert(db, rows, verb="INSERT OR REPLACE")
        db.execute("COMMIT")


def build(target: Target) -> ForeachBatch:
    """Write to a table whose key is the flight's."""
    database = sqlite.create(target.path, unique=True)

    def partition(rows: Iterator[Row]) -> None:
        upsert_rows(database, list(rows))

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=sqlite.reader(database))


SINK = ModelledSink(
    name="foreach-batch-upsert",
    build=build,
    model=Upsert,
    steps={"write": "upsert_rows"},
    refuted=frozenset({"atomic-visibility"}),
)
