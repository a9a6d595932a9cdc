"""foreachBatch whose tasks write with a plain producer: at least once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import Producer

from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.kafka import topics
from onceproof.spark_checks.stores.kafka.store import Kafka

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, Row

    from onceproof.spark_checks.stores.kafka.store import KafkaPlace


def append_rows(place: KafkaPlace, rows: list[Row]) -> None:
    """Write rows by a producer whose idempotence ends with it."""
    producer = Producer({**place.client, "enable.idempotence": True})
    topics.send(producer, place.topic, rows)


def build(target: Target) -> ForeachBatch:
    """Write to a topic."""
    place = target.store

    def partition(rows: Iterator[Row]) -> None:
        append_rows(place, list(rows))

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=topics.reader(place))


SINK = ModelledSink(
    name="kafka-append",
    build=build,
    model=Append,
    steps={"write": "append_rows"},
    refuted=frozenset({"at-most-once", "effectively-once", "atomic-visibility"}),
    store=Kafka(),
)
