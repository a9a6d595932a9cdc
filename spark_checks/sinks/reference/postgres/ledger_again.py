"""foreachBatch that looks its batch up each time that it tries to commit it.

The id and the rows are in one transaction, which is tried again where a connection
breaks. If it was committed, and the reply was lost, the id is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.micro_batch_unreliable import MicroBatchUnreliable
from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.sinks.reference.postgres.ledger import write_batch
from onceproof.spark_checks.stores.postgres.store import Postgres
from onceproof.spark_checks.stores.unreliable import Unreliable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(target: Target) -> ForeachBatch:
    """Skip batches whose id the database holds."""
    url = tables.create(target, ledger="batch_id bigint PRIMARY KEY")

    def write(batch: DataFrame, batch_id: int) -> None:
        tables.again(write_batch, url, batch.collect(), batch_id)

    return ForeachBatch(write, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-ledger-again",
    build=build,
    model=BatchLedger,
    engine=MicroBatchUnreliable,
    steps={"sink.write_batch": "write_batch"},
    refuted=frozenset(),
    store=Unreliable(Postgres()),
)
