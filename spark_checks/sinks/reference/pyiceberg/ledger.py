"""foreachBatch whose snapshots by pyiceberg carry the batch's id.

The sink looks through the table's snapshots first. It is right as long as none of them
expires that has the id of a batch which Spark may give again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.pyiceberg import tables
from onceproof.spark_checks.stores.tables.pyiceberg import PyIceberg

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def write_batch(folder: str, batch: DataFrame, batch_id: int) -> None:
    """Commit the rows and the batch's id together, unless the id is there."""
    table = tables.load(folder)
    summaries = [one.summary for one in table.snapshots() if one.summary]
    done = {found.additional_properties.get(tables.BATCH) for found in summaries}
    if str(batch_id) not in done:
        tables.append(table, batch, batch_id)


def build(target: Target) -> ForeachBatch:
    """Skip batches whose id a snapshot has."""
    folder = tables.create(target)

    def write(batch: DataFrame, batch_id: int) -> None:
        write_batch(folder, batch, batch_id)

    return ForeachBatch(write, read=tables.reader(folder))


SINK = ModelledSink(
    name="pyiceberg-ledger",
    build=build,
    model=BatchLedger,
    steps={"sink.write_batch": "write_batch"},
    refuted=frozenset(),
    store=PyIceberg(),
)
