"""foreachBatch with the batch's id in its transaction, which a client may send again.

It resends what was not answered. The broker recognises records by their sequence, and
a transaction that is committed already: nothing is there twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.micro_batch_unreliable import MicroBatchUnreliable
from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.kafka import topics
from onceproof.spark_checks.sinks.reference.kafka.transaction_per_batch import (
    write_batch,
)
from onceproof.spark_checks.stores.kafka.store import Kafka
from onceproof.spark_checks.stores.unreliable import Unreliable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(target: Target) -> ForeachBatch:
    """Skip batches whose id is in the ledger."""
    place = target.store
    ledger = topics.make_ledger(place)

    def write(batch: DataFrame, batch_id: int) -> None:
        write_batch(place, ledger, batch.collect(), batch_id)

    return ForeachBatch(write, read=topics.reader(place))


SINK = ModelledSink(
    name="kafka-transaction-resent",
    build=build,
    model=BatchLedger,
    engine=MicroBatchUnreliable,
    parameters={"retries": 9},
    steps={"sink.write_batch": "write_batch"},
    refuted=frozenset(),
    store=Unreliable(Kafka()),
)
