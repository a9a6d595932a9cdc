"""foreachBatch that appends each partition in a transaction of its own."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference import sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, Row


def append_rows(database: str, rows: list[Row]) -> None:
    """Append rows, as a JDBC write does."""
    with closing(sqlite.connect(database)) as db:
        db.execute("BEGIN IMMEDIATE")
        sqlite.insert(db, rows)
        db.execute("COMMIT")


def build(target: Target) -> ForeachBatch:
    """Append to a table without a key."""
    database = sqlite.create(target.path)

    def partition(rows: Iterator[Row]) -> None:
        append_rows(database, list(rows))

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=sqlite.reader(database))


SINK = ModelledSink(
    name="foreach-batch-append",
    build=build,
    model=Append,
    steps={"write": "append_rows"},
    refuted=frozenset({"at-most-once", "effectively-once", "atomic-visibility"}),
)
