"""foreachBatch with the batch's id in the transaction of its rows.

The transactional id is the same in all runs: a producer that takes it over ends what an
earlier one left open, and looks into the ledger only then. Readers must read what is
committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.kafka import topics
from onceproof.spark_checks.stores.kafka.store import Kafka

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from onceproof.spark_checks.stores.kafka.store import KafkaPlace


def write_batch(place: KafkaPlace, ledger: str, rows: list[Row], batch_id: int) -> None:
    """Commit the rows and the batch's id together, unless the id is there."""
    producer = topics.transactional(place, "writer")
    if topics.is_done(place, ledger, batch_id):
        return
    producer.begin_transaction()
    topics.send(producer, place.topic, rows)
    producer.produce(ledger, str(batch_id), key=topics.LAST)
    producer.commit_transaction()


def build(target: Target) -> ForeachBatch:
    """Skip batches whose id is in the ledger."""
    place = target.store
    ledger = topics.make_ledger(place)

    def write(batch: DataFrame, batch_id: int) -> None:
        write_batch(place, ledger, batch.collect(), batch_id)

    return ForeachBatch(write, read=topics.reader(place))


SINK = ModelledSink(
    name="kafka-transaction-per-batch",
    build=build,
    model=BatchLedger,
    steps={"sink.write_batch": "write_batch"},
    refuted=frozenset(),
    store=Kafka(),
)
