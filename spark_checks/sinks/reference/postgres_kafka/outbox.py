"""foreachBatch with an outbox, whose readers know an event by its key.

Orders, the events to send and the batch's id are in one transaction of PostgreSQL. A
relay, which here runs at the end of each batch, sends what is in the outbox, and then
removes it. So no event is lost: the next run sends what was not removed. An event may
be sent twice, if the process dies after the brokers have it, and before it is removed.
So Kafka's readers must know events by their key, as a consumer that upserts does; then
each event takes effect once. Orders and events are not visible together: for a while a
reader sees an order without its event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from onceproof.model.protocols.parts.sinks.dual_write import OutboxByKey
from onceproof.model.protocols.two_stores import MicroBatchTwoStores
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.kafka import topics
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.sinks.reference.postgres_kafka import outbox_tables, stores
from onceproof.spark_checks.sinks.reference.postgres_kafka.dual_write import send_rows
from onceproof.spark_checks.sinks.reference.postgres_kafka.outbox_tables import (
    write_batch,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Read
    from onceproof.spark_checks.stores.kafka.store import KafkaPlace

STEPS = {
    "sink.first.write_batch": "write_batch",
    "sink.second.write_rows": "send_rows",
    "sink.second.write_ledger": "remove_sent",
}


def remove_sent(url: str, last: int) -> None:
    """Remove from the outbox what the brokers have."""
    with psycopg.connect(url) as db:
        db.execute("DELETE FROM outbox WHERE id <= %s", (last,))


def relay(url: str, place: KafkaPlace) -> None:
    """Send what is in the outbox, and remove it."""
    rows, last = outbox_tables.pending(url)
    if rows:
        send_rows(place, rows)
        remove_sent(url, last)


def by_key(place: KafkaPlace) -> Read:
    """Return a reader that takes one event of those with the same key."""
    read = topics.reader(place)

    def distinct(spark: SparkSession) -> DataFrame:
        return read(spark).dropDuplicates(["flight_id"])

    return distinct


def build(target: Target) -> ForeachBatch:
    """Send by way of an outbox; read events by key."""
    url = outbox_tables.create(target)
    events = target.store.events

    def write(batch: DataFrame, batch_id: int) -> None:
        write_batch(url, batch.collect(), batch_id)
        relay(url, events)

    read = {"orders": tables.reader(url), "events": by_key(events)}
    return ForeachBatch(write, read=read)


SINK = ModelledSink(
    name="postgres-kafka-outbox",
    build=build,
    model=OutboxByKey,
    engine=MicroBatchTwoStores,
    steps=STEPS,
    refuted=frozenset({"atomic-visibility"}),
    store=stores.STORE,
)
