"""foreachBatch whose tasks write by key, and write again where a connection breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.micro_batch_unreliable import MicroBatchUnreliable
from onceproof.model.protocols.parts.sinks.upsert import Upsert
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.sinks.reference.postgres.upsert import upsert_rows
from onceproof.spark_checks.stores.postgres.store import Postgres
from onceproof.spark_checks.stores.unreliable import Unreliable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, Row


def build(target: Target) -> ForeachBatch:
    """Write to a table whose key is the flight's."""
    url = tables.create(target, unique=True)

    def partition(rows: Iterator[Row]) -> None:
        tables.again(upsert_rows, url, list(rows))

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-upsert-again",
    build=build,
    model=Upsert,
    engine=MicroBatchUnreliable,
    steps={"write": "upsert_rows"},
    refuted=frozenset({"atomic-visibility"}),
    store=Unreliable(Postgres()),
)
