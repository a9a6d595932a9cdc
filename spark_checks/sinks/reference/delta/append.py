"""foreachBatch that appends each batch to a table of Delta Lake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.append import AppendWhole
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.delta import tables
from onceproof.spark_checks.stores.tables.delta import Delta

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def append_batch(batch: DataFrame, path: str) -> None:
    """Append the rows of a batch in one commit."""
    batch.write.format("delta").mode("append").save(path)


def build(target: Target) -> ForeachBatch:
    """Append, whatever the table holds."""
    path = tables.place(target)

    def write(batch: DataFrame, batch_id: int) -> None:
        append_batch(batch, path)

    return ForeachBatch(write, read=tables.reader(path))


SINK = ModelledSink(
    name="delta-append",
    build=build,
    model=AppendWhole,
    steps={"sink.append": "append_batch"},
    refuted=frozenset({"at-most-once", "effectively-once"}),
    store=Delta(),
)
