"""foreachBatch whose commits by delta-rs carry the query's name and the batch's id.

delta-rs notes what it is given, and skips nothing by itself: the sink looks first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltalake import CommitProperties, DeltaTable, Transaction

from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.delta_rs import tables
from onceproof.spark_checks.stores.tables.delta_rs import DeltaRs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

APPLICATION = "flights"


def write_batch(path: str, batch: DataFrame, batch_id: int) -> None:
    """Commit the rows and the batch's id together, unless the id is there."""
    last = DeltaTable(path).transaction_version(APPLICATION)
    if last is None or last < batch_id:
        done = CommitProperties(app_transactions=[Transaction(APPLICATION, batch_id)])
        tables.append(path, batch, done)


def build(target: Target) -> ForeachBatch:
    """Skip batches whose id the table's log holds."""
    path = tables.create(target)

    def write(batch: DataFrame, batch_id: int) -> None:
        write_batch(path, batch, batch_id)

    return ForeachBatch(write, read=tables.reader(path))


SINK = ModelledSink(
    name="delta-rs-txn",
    build=build,
    model=BatchLedger,
    steps={"sink.write_batch": "write_batch"},
    refuted=frozenset(),
    store=DeltaRs(),
)
