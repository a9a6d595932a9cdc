"""foreachBatch that skips a batch whose orders PostgreSQL has, and so loses its events.

The batch's id is in the transaction of the orders, which are there once. But if the
process dies before the events are sent, the id is there, and the events never are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.dual_write import DualWriteUnlessDone
from onceproof.model.protocols.two_stores import MicroBatchTwoStores
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres.ledger import write_batch
from onceproof.spark_checks.sinks.reference.postgres.ledger_apart import in_ledger
from onceproof.spark_checks.sinks.reference.postgres_kafka import stores
from onceproof.spark_checks.sinks.reference.postgres_kafka.dual_write import send_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(target: Target) -> ForeachBatch:
    """Skip batches whose id the database holds."""
    url = stores.create(target, ledger="batch_id bigint PRIMARY KEY")
    events = target.store.events

    def write(batch: DataFrame, batch_id: int) -> None:
        if in_ledger(url, batch_id):
            return
        rows = batch.collect()
        write_batch(url, rows, batch_id)
        send_rows(events, rows)

    return ForeachBatch(write, read=stores.readers(target))


SINK = ModelledSink(
    name="postgres-kafka-dual-write-ledger",
    build=build,
    model=DualWriteUnlessDone,
    engine=MicroBatchTwoStores,
    steps={"sink.first.write_batch": "write_batch", "sink.second.append": "send_rows"},
    refuted=frozenset(
        {
            "at-least-once",
            "effectively-once",
            "atomic-visibility",
            "durable",
            "recoverable",
            "agreement",
        }
    ),
    store=stores.STORE,
)
