"""foreachBatch that inserts orders into PostgreSQL, and then sends events to Kafka.

The two commit one after the other. If the process dies between them, readers see orders
without events. Spark runs the batch again, and what was committed before is there
twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import Producer

from onceproof.model.protocols.parts.sinks.dual_write import DualWrite
from onceproof.model.protocols.two_stores import MicroBatchTwoStores
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.kafka import topics
from onceproof.spark_checks.sinks.reference.postgres.insert import insert_rows
from onceproof.spark_checks.sinks.reference.postgres_kafka import stores

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from onceproof.spark_checks.stores.kafka.store import KafkaPlace


def send_rows(place: KafkaPlace, rows: list[Row]) -> None:
    """Send events, and wait until the brokers have them."""
    topics.send(Producer(dict(place.client)), place.topic, rows)


def build(target: Target) -> ForeachBatch:
    """Write to a table without a key, and to a topic."""
    url = stores.create(target)
    events = target.store.events

    def write(batch: DataFrame, batch_id: int) -> None:
        rows = batch.collect()
        insert_rows(url, rows)
        send_rows(events, rows)

    return ForeachBatch(write, read=stores.readers(target))


SINK = ModelledSink(
    name="postgres-kafka-dual-write",
    build=build,
    model=DualWrite,
    engine=MicroBatchTwoStores,
    steps={"sink.first.append": "insert_rows", "sink.second.append": "send_rows"},
    refuted=frozenset({"at-most-once", "effectively-once", "atomic-visibility"}),
    store=stores.STORE,
)
