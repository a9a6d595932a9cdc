"""What the sinks on Kafka share: how flights are written to a topic, and read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaException, Producer

from onceproof.spark_checks.sinks.reference.sqlite import SCHEMA
from onceproof.spark_checks.stores.kafka.client import quietly
from onceproof.spark_checks.stores.kafka.store import COMMITTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import Row

    from onceproof.spark_checks.sinks.interface import Read
    from onceproof.spark_checks.stores.kafka.store import KafkaPlace

LAST = b"last batch"


def send(
    producer: Producer, topic: str, rows: Iterable[Row], *, partition: int = -1
) -> None:
    """Write flights, and wait until the brokers have them. Raises if they have not.

    They go to one partition, or to those of their keys.
    """
    failed: list[Any] = []

    def delivered(error: Any, _: Any) -> None:
        if error is not None:
            failed.append(error)

    for row in rows:
        value = json.dumps(row.asDict())
        producer.produce(
            topic,
            value,
            key=row.flight_id,
            partition=partition,
            on_delivery=delivered,
        )
    producer.flush()
    if failed:
        raise KafkaException(failed[0])


def transactional(
    place: KafkaPlace, name: str, settings: Mapping[str, str] | None = None
) -> Producer:
    """Return a producer with a transactional id of the place.

    One that had the id before is fenced off, and what it left open is aborted.
    """
    own = {"transactional.id": place.named(name), **(settings or {})}
    producer = Producer({**quietly(place.client), **own})
    producer.init_transactions()
    return producer


def make_ledger(place: KafkaPlace) -> str:
    """Make the topic in which the id of the last finished batch is kept."""
    return place.create("ledger", cleanup_policy="compact")


def is_done(place: KafkaPlace, ledger: str, batch_id: int) -> bool:
    """Return whether the ledger has that batch, or a later one."""
    done = [int(found.value or b"-1") for found in place.records(ledger)]
    return batch_id <= max(done, default=-1)


def reader(place: KafkaPlace, isolation: str = COMMITTED) -> Read:
    """Return a reader of the flights that a consumer of an isolation level gets."""
    return place.reader(SCHEMA, isolation=isolation)
