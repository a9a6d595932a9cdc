"""foreachBatch whose tasks write with a producer that resends what was not answered.

Nothing in the sink tries again: the client does, and without idempotence the broker
does not recognise what it has written already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import Producer

from onceproof.model.protocols.micro_batch_unreliable import MicroBatchUnreliable
from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.kafka import topics
from onceproof.spark_checks.stores.kafka.client import quietly
from onceproof.spark_checks.stores.kafka.store import Kafka
from onceproof.spark_checks.stores.unreliable import Unreliable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, Row

    from onceproof.spark_checks.stores.kafka.store import KafkaPlace


def append_rows(place: KafkaPlace, rows: list[Row]) -> None:
    """Write the rows of a task in one request, by a producer without idempotence."""
    settings = {**quietly(place.client), "enable.idempotence": False}
    topics.send(Producer(settings), place.topic, rows, partition=0)


def build(target: Target) -> ForeachBatch:
    """Write to one partition of a topic."""
    place = target.store

    def partition(rows: Iterator[Row]) -> None:
        append_rows(place, list(rows))

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=topics.reader(place))


SINK = ModelledSink(
    name="kafka-append-resent",
    build=build,
    model=Append,
    engine=MicroBatchUnreliable,
    parameters={"retries": 9},
    steps={"write": "append_rows"},
    refuted=frozenset({"at-most-once", "effectively-once", "atomic-visibility"}),
    store=Unreliable(Kafka()),
)
