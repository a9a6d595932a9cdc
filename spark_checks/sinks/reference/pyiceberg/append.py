"""foreachBatch that appends each batch to a table of Iceberg by pyiceberg."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.append import AppendWhole
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.pyiceberg import tables
from onceproof.spark_checks.stores.tables.pyiceberg import PyIceberg

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def append_batch(folder: str, batch: DataFrame, batch_id: int) -> None:
    """Append the rows of a batch in one snapshot."""
    tables.append(tables.load(folder), batch, batch_id)


def build(target: Target) -> ForeachBatch:
    """Append, whatever the table holds."""
    folder = tables.create(target)

    def write(batch: DataFrame, batch_id: int) -> None:
        append_batch(folder, batch, batch_id)

    return ForeachBatch(write, read=tables.reader(folder))


SINK = ModelledSink(
    name="pyiceberg-append",
    build=build,
    model=AppendWhole,
    steps={"sink.append": "append_batch"},
    refuted=frozenset({"at-most-once", "effectively-once"}),
    store=PyIceberg(),
)
