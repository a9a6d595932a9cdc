"""foreachBatch that inserts each batch into DuckDB in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.append import AppendWhole
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.duckdb import tables
from onceproof.spark_checks.stores.tables.duckdb import DuckDB

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def insert_batch(path: str, batch: DataFrame) -> None:
    """Insert the rows, whatever is there."""
    tables.write(path, batch)


def build(target: Target) -> ForeachBatch:
    """Insert into a table without a key."""
    path = tables.create(target)

    def write(batch: DataFrame, batch_id: int) -> None:
        insert_batch(path, batch)

    return ForeachBatch(write, read=tables.reader(path))


SINK = ModelledSink(
    name="duckdb-insert",
    build=build,
    model=AppendWhole,
    steps={"sink.append": "insert_batch"},
    refuted=frozenset({"at-most-once", "effectively-once"}),
    store=DuckDB(),
)
