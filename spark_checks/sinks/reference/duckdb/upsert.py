"""foreachBatch that writes each batch into DuckDB by key, in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.upsert import UpsertWhole
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.duckdb import tables
from onceproof.spark_checks.stores.tables.duckdb import DuckDB

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def upsert_batch(path: str, batch: DataFrame) -> None:
    """Insert the rows, or replace those whose key is there."""
    tables.write(path, batch, verb="INSERT OR REPLACE")


def build(target: Target) -> ForeachBatch:
    """Write to a table whose key is the flight's."""
    path = tables.create(target, unique=True)

    def write(batch: DataFrame, batch_id: int) -> None:
        upsert_batch(path, batch)

    return ForeachBatch(write, read=tables.reader(path))


SINK = ModelledSink(
    name="duckdb-upsert",
    build=build,
    model=UpsertWhole,
    steps={"sink.merge": "upsert_batch"},
    refuted=frozenset(),
    store=DuckDB(),
)
