"""Reads topics of Kafka from their beginning to their end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from onceproof.spark_checks.stores.interface import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECONDS = 30.0
_PIECE = 1000
_PAUSE = 0.02
_SETTLES = 0.3
_ERRORS = 3


class KafkaRecord(NamedTuple):
    """A record of a topic, as a consumer gets it."""

    partition: int
    """The partition that it is in."""
    offset: int
    """Its offset there."""
    key: bytes | None
    """The key."""
    value: bytes | None
    """The value."""


def quietly(client: Mapping[str, str]) -> dict[str, str | int | float | bool]:
    """Return options of a client that writes errors to the terminal, and no more."""
    return {"log_level": _ERRORS, **client}


def records(
    client: Mapping[str, str], topic: str, group: str, isolation: str
) -> list[KafkaRecord]:
    """Read all records of a topic that a consumer of that isolation level gets now.

    One that reads what is committed gets nothing beyond a transaction that is open. It
    waits a moment for that: a commit is answered before partitions know of it. Raises
    ``StoreError`` where brokers do not answer.
    """
    from confluent_kafka import (  # noqa: PLC0415 - an extra
        OFFSET_BEGINNING,
        Consumer,
        KafkaError,
        KafkaException,
        TopicPartition,
    )

    def refuse(error: KafkaError | None) -> None:
        if error is not None:
            raise KafkaException(error)

    ends = time.monotonic() + _SECONDS
    consumer = Consumer(
        {
            **quietly(client),
            "group.id": group,
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,
        }
    )
    found = []
    try:
        listed = consumer.list_topics(topic, timeout=_SECONDS).topics[topic]
        refuse(listed.error)
        left = set(listed.partitions)
        consumer.assign([TopicPartition(topic, n, OFFSET_BEGINNING) for n in left])
        held: dict[int | None, float] = {}
        while left and not all(_is_over(held.get(n)) for n in left):
            for one in consumer.consume(_PIECE, timeout=_PAUSE):
                error = one.error()
                if error is None:
                    at, number = one.partition() or 0, one.offset() or 0
                    found.append(KafkaRecord(at, number, one.key(), one.value()))
                    held.pop(at, None)
                elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its name
                    where = TopicPartition(topic, one.partition() or 0)
                    _, end = consumer.get_watermark_offsets(where, cached=True)
                    if (one.offset() or 0) < end:
                        held.setdefault(one.partition(), time.monotonic() + _SETTLES)
                    else:
                        left.discard(one.partition() or 0)
                else:
                    refuse(error)
            if time.monotonic() > ends:
                message = (
                    f"topic {topic} is not read to its end in {_SECONDS:g} seconds"
                )
                raise StoreError(message)
    except KafkaException as error:
        message = f"topic {topic} cannot be read: {error.args[0].str()}"
        raise StoreError(message) from None
    finally:
        consumer.close()
    return sorted(found)


def _is_over(time_out: float | None) -> bool:
    return time_out is not None and time.monotonic() > time_out
