"""foreachBatch that appends each batch to a table of Iceberg."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.append import AppendWhole
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.iceberg import tables
from onceproof.spark_checks.stores.tables.iceberg import Iceberg

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def append_batch(batch: DataFrame, table: str) -> None:
    """Append the rows of a batch in one snapshot."""
    batch.writeTo(table).append()


def build(target: Target) -> ForeachBatch:
    """Append, whatever the table holds."""
    table = tables.create(target)

    def write(batch: DataFrame, batch_id: int) -> None:
        append_batch(batch, table)

    return ForeachBatch(write, read=tables.reader(table))


SINK = ModelledSink(
    name="iceberg-append",
    build=build,
    model=AppendWhole,
    steps={"sink.append": "append_batch"},
    refuted=frozenset({"at-most-once", "effectively-once"}),
    store=Iceberg(),
)
