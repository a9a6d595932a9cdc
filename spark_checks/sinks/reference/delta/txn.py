"""foreachBatch whose appends to Delta Lake carry the query's name and the batch's id.

Delta keeps the last ``txnVersion`` of each ``txnAppId`` in the commit of the rows, and
skips a write that is not beyond it. Batch ids begin at 0 with each new checkpoint, so a
new checkpoint needs a new ``txnAppId``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.delta import tables
from onceproof.spark_checks.stores.tables.delta import Delta

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def write_batch(batch: DataFrame, path: str, version: int) -> None:
    """Commit the rows and the version together, unless the version is there."""
    appended = batch.write.format("delta").mode("append")
    appended.option("txnAppId", "flights").option("txnVersion", version).save(path)


def build(target: Target) -> ForeachBatch:
    """Skip batches whose id the table's log holds."""
    path = tables.place(target)

    def write(batch: DataFrame, batch_id: int) -> None:
        write_batch(batch, path, batch_id)

    return ForeachBatch(write, read=tables.reader(path))


SINK = ModelledSink(
    name="delta-txn",
    build=build,
    model=BatchLedger,
    steps={"sink.write_batch": "write_batch"},
    refuted=frozenset(),
    store=Delta(),
)
