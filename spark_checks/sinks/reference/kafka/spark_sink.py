"""Spark's own Kafka sink, which is at least once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.spark_checks.sinks.interface import ModelledSink, Query, Target
from onceproof.spark_checks.sinks.reference.kafka import topics
from onceproof.spark_checks.stores.jars.connectors import connector
from onceproof.spark_checks.stores.kafka.store import Kafka

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery


def build(target: Target) -> Query:
    """Write to a topic; a value is a flight as JSON."""
    place = target.store

    def start(events: DataFrame, checkpoint: str) -> StreamingQuery:
        values = events.selectExpr("flight_id AS key", "to_json(struct(*)) AS value")
        writer = values.writeStream.format("kafka").options(**place.options)
        return writer.option("checkpointLocation", checkpoint).start()

    return Query(start, read=topics.reader(place))


_SINK = ModelledSink(
    name="kafka-spark-sink",
    build=build,
    model=Append,
    refuted=frozenset({"at-most-once", "effectively-once"}),
    unseen=frozenset({"atomic-visibility"}),
    store=Kafka(),
)

SINK = _SINK if connector("kafka") else None
"""There is none where the PySpark that is installed has no connector to Kafka."""
