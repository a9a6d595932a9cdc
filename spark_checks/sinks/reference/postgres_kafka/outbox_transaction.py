"""foreachBatch with an outbox, whose relay notes in Kafka how far it has sent it.

Events and the id of the last one are in one transaction of Kafka, with the same
transactional id in all runs. A relay that takes it over reads in Kafka where to go on.
So an event is there once for all who read what is committed, and they need no key.
Orders and events are not visible together, as with any outbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.dual_write import OutboxOnce
from onceproof.model.protocols.two_stores import MicroBatchTwoStores
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.kafka import topics
from onceproof.spark_checks.sinks.reference.postgres_kafka import outbox_tables, stores
from onceproof.spark_checks.sinks.reference.postgres_kafka.outbox_tables import (
    write_batch,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from onceproof.spark_checks.stores.kafka.store import KafkaPlace


def relay(url: str, place: KafkaPlace, ledger: str) -> None:
    """Commit what is not sent yet, with the id of the last of it."""
    producer = topics.transactional(place, "relay")
    sent = (int(found.value or b"0") for found in place.records(ledger))
    rows, last = outbox_tables.pending(url, max(sent, default=0))
    if rows:
        producer.begin_transaction()
        topics.send(producer, place.topic, rows)
        producer.produce(ledger, str(last), key=topics.LAST)
        producer.commit_transaction()


def build(target: Target) -> ForeachBatch:
    """Send by way of an outbox; read what is committed."""
    url = outbox_tables.create(target)
    events = target.store.events
    ledger = topics.make_ledger(events)

    def write(batch: DataFrame, batch_id: int) -> None:
        write_batch(url, batch.collect(), batch_id)
        relay(url, events, ledger)

    return ForeachBatch(write, read=stores.readers(target))


SINK = ModelledSink(
    name="postgres-kafka-outbox-transaction",
    build=build,
    model=OutboxOnce,
    engine=MicroBatchTwoStores,
    steps={"sink.first.write_batch": "write_batch", "sink.second.write_batch": "relay"},
    refuted=frozenset({"atomic-visibility"}),
    store=stores.STORE,
)
