"""foreachBatch whose tasks insert, and insert again where a connection breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.micro_batch_unreliable import MicroBatchUnreliable
from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.sinks.reference.postgres.insert import insert_rows
from onceproof.spark_checks.stores.postgres.store import Postgres
from onceproof.spark_checks.stores.unreliable import Unreliable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, Row


def build(target: Target) -> ForeachBatch:
    """Insert into a table without a key."""
    url = tables.create(target)

    def partition(rows: Iterator[Row]) -> None:
        tables.again(insert_rows, url, list(rows))

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-insert-again",
    build=build,
    model=Append,
    engine=MicroBatchUnreliable,
    steps={"write": "insert_rows"},
    refuted=frozenset({"at-most-once", "effectively-once", "atomic-visibility"}),
    store=Unreliable(Postgres()),
)
