"""foreachBatch that merges each batch into a table of Delta Lake by key.

It is right as long as each batch has a key once: MERGE inserts two rows of one batch
that have the same key, where the table has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.upsert import UpsertWhole
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.delta import tables
from onceproof.spark_checks.sinks.reference.sqlite import SCHEMA
from onceproof.spark_checks.stores.tables.delta import Delta

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def merge_batch(batch: DataFrame, path: str) -> None:
    """Insert the rows whose keys are not there, in one commit."""
    spark = batch.sparkSession
    spark.sql(f"CREATE TABLE IF NOT EXISTS delta.`{path}` ({SCHEMA}) USING delta")
    spark.sql(
        f"MERGE INTO delta.`{path}` AS there USING {{batch}} AS new "
        "ON there.flight_id = new.flight_id WHEN NOT MATCHED THEN INSERT *",
        batch=batch,
    )


def build(target: Target) -> ForeachBatch:
    """Write to a table by the flight's key."""
    path = tables.place(target)

    def write(batch: DataFrame, batch_id: int) -> None:
        merge_batch(batch, path)

    return ForeachBatch(write, read=tables.reader(path))


SINK = ModelledSink(
    name="delta-merge",
    build=build,
    model=UpsertWhole,
    steps={"sink.merge": "merge_batch"},
    refuted=frozenset(),
    store=Delta(),
)
