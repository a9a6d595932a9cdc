"""foreachBatch that appends each batch to a table of Delta Lake by delta-rs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.append import AppendWhole
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.delta_rs import tables
from onceproof.spark_checks.stores.tables.delta_rs import DeltaRs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def append_batch(path: str, batch: DataFrame) -> None:
    """Append the rows of a batch in one commit."""
    tables.append(path, batch)


def build(target: Target) -> ForeachBatch:
    """Append, whatever the table holds."""
    path = tables.create(target)

    def write(batch: DataFrame, batch_id: int) -> None:
        append_batch(path, batch)

    return ForeachBatch(write, read=tables.reader(path))


SINK = ModelledSink(
    name="delta-rs-append",
    build=build,
    model=AppendWhole,
    steps={"sink.append": "append_batch"},
    refuted=frozenset({"at-most-once", "effectively-once"}),
    store=DeltaRs(),
)
