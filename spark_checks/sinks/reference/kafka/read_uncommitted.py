"""foreachBatch with the batch's id beside its rows, read before it is committed.

The sink is right: rows and id are in one transaction. But its reader uses the default
of Java's clients, and also reads rows that are not committed. They appear as they are
sent, and stay if their transaction is aborted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.ledger_apart import LedgerAfter
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.kafka import topics
from onceproof.spark_checks.stores.kafka.store import UNCOMMITTED, Kafka

if TYPE_CHECKING:
    from confluent_kafka import Producer
    from pyspark.sql import DataFrame, Row


def send_rows(producer: Producer, topic: str, rows: list[Row]) -> None:
    """Begin a transaction, and send the rows."""
    producer.begin_transaction()
    topics.send(producer, topic, rows)


def commit(producer: Producer, ledger: str, batch_id: int) -> None:
    """Commit them with the batch's id."""
    producer.produce(ledger, str(batch_id), key=topics.LAST)
    producer.commit_transaction()


def build(target: Target) -> ForeachBatch:
    """Skip batches whose id is in the ledger; read what is not committed."""
    place = target.store
    ledger = topics.make_ledger(place)

    def write(batch: DataFrame, batch_id: int) -> None:
        producer = topics.transactional(place, "writer")
        if not topics.is_done(place, ledger, batch_id):
            send_rows(producer, place.topic, batch.collect())
            commit(producer, ledger, batch_id)

    return ForeachBatch(write, read=topics.reader(place, UNCOMMITTED))


SINK = ModelledSink(
    name="kafka-read-uncommitted",
    build=build,
    model=LedgerAfter,
    steps={"sink.write_rows": "send_rows", "sink.write_ledger": "commit"},
    refuted=frozenset({"at-most-once", "effectively-once"}),
    store=Kafka(),
)
