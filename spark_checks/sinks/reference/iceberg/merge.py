"""foreachBatch that merges each batch into a table of Iceberg by key.

It is right as long as each batch has a key once: MERGE inserts two rows of one batch
that have the same key, where the table has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.upsert import UpsertWhole
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.iceberg import tables
from onceproof.spark_checks.stores.tables.iceberg import Iceberg

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def merge_batch(batch: DataFrame, table: str) -> None:
    """Insert the rows whose keys are not there, in one snapshot."""
    batch.sparkSession.sql(
        f"MERGE INTO {table} AS there USING {{batch}} AS new "
        "ON there.flight_id = new.flight_id WHEN NOT MATCHED THEN INSERT *",
        batch=batch,
    )


def build(target: Target) -> ForeachBatch:
    """Write to a table by the flight's key."""
    table = tables.create(target)

    def write(batch: DataFrame, batch_id: int) -> None:
        merge_batch(batch, table)

    return ForeachBatch(write, read=tables.reader(table))


SINK = ModelledSink(
    name="iceberg-merge",
    build=build,
    model=UpsertWhole,
    steps={"sink.merge": "merge_batch"},
    refuted=frozenset(),
    store=Iceberg(),
)
