"""foreachBatch whose tasks commit a transaction each, with a new id in each attempt.

The rows of an attempt appear together, or not at all. But nothing recognises that
another attempt has already committed the same rows.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.kafka import topics
from onceproof.spark_checks.stores.kafka.store import Kafka

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, Row

    from onceproof.spark_checks.stores.kafka.store import KafkaPlace


def commit_rows(place: KafkaPlace, rows: list[Row]) -> None:
    """Write rows in a transaction of a producer that nobody has seen before."""
    producer = topics.transactional(place, uuid.uuid4().hex)
    producer.begin_transaction()
    topics.send(producer, place.topic, rows)
    producer.commit_transaction()


def build(target: Target) -> ForeachBatch:
    """Write to a topic."""
    place = target.store

    def partition(rows: Iterator[Row]) -> None:
        commit_rows(place, list(rows))

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=topics.reader(place))


SINK = ModelledSink(
    name="kafka-transaction-per-attempt",
    build=build,
    model=Append,
    steps={"write": "commit_rows"},
    refuted=frozenset({"at-most-once", "effectively-once", "atomic-visibility"}),
    store=Kafka(),
)
