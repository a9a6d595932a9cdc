"""A process beside the run that keeps a broker alive, and makes and drops topics.

The threads of Kafka's client do not survive a fork, and a run forks: so the client is
in a process of its own. That process ends when the run does, however that comes, and
ends the broker.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.stores.kafka.client import quietly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_DIES_WITH_PARENT = 1
_LOOKS = 1.0
_SECONDS = 20.0
_PAUSE = 0.05
_RETRIES = "200"


class Keeper:
    """Does what a run asks for, one request after the other."""

    def __init__(self) -> None:
        """Have no broker and no client yet."""
        self._broker: subprocess.Popen[bytes] | None = None
        self._client: dict[str, Any] = {}
        self._admin: Any = None

    def answer(self, request: dict[str, Any]) -> Any:
        """Answer a request: the name of what to do, and what it takes."""
        work: Callable[..., Any] = getattr(self, request.pop("do"))
        return work(**request)

    def start(self, command: list[str], folder: str) -> None:
        """Start a broker; what it says goes to ``broker.log``."""
        with open(os.path.join(folder, "broker.log"), "ab") as log:  # noqa: PTH118, PTH123
            self._broker = subprocess.Popen(  # noqa: S603 - a list, with our own Java
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - there is one thread
            )

    def connect(self, client: dict[str, str], seconds: float) -> None:
        """Wait until brokers answer. Raises where they do not."""
        from confluent_kafka import KafkaException  # noqa: PLC0415 - an extra
        from confluent_kafka.admin import AdminClient  # noqa: PLC0415

        self._client = quietly({"reconnect.backoff.max.ms": _RETRIES, **client})
        self._admin = AdminClient(self._client)
        ends = time.monotonic() + seconds
        while True:
            if self._broker is not None and self._broker.poll() is not None:
                message = f"the broker ended with status {self._broker.returncode}"
                raise RuntimeError(message)
            try:
                self._admin.list_topics(timeout=1 if self._broker else seconds)
            except KafkaException:
                if time.monotonic() > ends:
                    raise
                time.sleep(_PAUSE)
            else:
                return

    def warm_up(self, name: str) -> None:
        """Let the broker make its log of transactions, which takes it a second."""
        from confluent_kafka import Producer  # noqa: PLC0415 - an extra

        Producer({**self._client, "transactional.id": name}).init_transactions(_SECONDS)

    def make(self, topic: str, partitions: int, settings: dict[str, str]) -> None:
        """Make a topic; wait until its leaders are known."""
        from confluent_kafka.cimpl import NewTopic  # noqa: PLC0415 - an extra

        made = NewTopic(topic, num_partitions=partitions, config=settings)
        _done(self._admin.create_topics([made], operation_timeout=_SECONDS))

    def append(self, topic: str, partition: int, values: list[str]) -> None:
        """Append records to a partition, in order.

        The producer is a new one: an older one may know of the topic that it is gone.
        """
        from confluent_kafka import Producer  # noqa: PLC0415 - an extra

        producer = Producer({**self._client, "enable.idempotence": True})
        refused: list[str] = []

        def note(error: Any, record: Any) -> None:
            del record
            if error is not None:
                refused.append(error.str())

        for value in values:
            producer.produce(
                topic, value.encode(), partition=partition, on_delivery=note
            )
        left = producer.flush(_SECONDS)
        if left or refused:
            why = refused[0] if refused else f"no answer within {_SECONDS:g} s"
            message = f"topic {topic} takes no records: {why}"
            raise RuntimeError(message)

    def drop(self, prefix: str) -> None:
        """Drop the topics and the consumer groups whose names begin with a prefix."""
        from confluent_kafka import KafkaError  # noqa: PLC0415 - an extra

        gone = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.GROUP_ID_NOT_FOUND)
        every = self._admin.list_topics(timeout=_SECONDS).topics
        topics = [name for name in every if name.startswith(prefix)]
        if topics:
            _done(self._admin.delete_topics(topics, operation_timeout=_SECONDS), gone)
        listed = self._admin.list_consumer_groups(request_timeout=_SECONDS).result()
        groups = [g.group_id for g in listed.valid if g.group_id.startswith(prefix)]
        if groups:
            _done(self._admin.delete_consumer_groups(groups), gone)

    def end(self) -> None:
        """End the broker at once: what it holds is thrown away."""
        if self._broker is not None:
            self._broker.kill()
            self._broker.wait()


def _done(futures: dict[str, Any], besides: Iterable[int] = ()) -> None:
    """Wait for what was asked of brokers. Raises for errors, ``besides`` some."""
    from confluent_kafka import KafkaException  # noqa: PLC0415 - an extra

    for future in futures.values():
        try:
            future.result(_SECONDS)
        except KafkaException as error:
            if error.args[0].code() not in besides:
                raise


def _said(error: Exception) -> str:
    """Return what an error says: of Kafka's client, its words alone."""
    first = error.args[0] if error.args else error
    return str(first.str() if hasattr(first, "str") else error)


def _die_with_parent() -> None:
    """Let the system end this process with the one that started it, if it can."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)


def main() -> None:
    """Answer requests, a line of JSON each, until the run is over."""
    parent, keeper, before = os.getppid(), Keeper(), b""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while os.getppid() == parent:
            if not select.select([0], [], [], _LOOKS)[0]:
                continue
            piece = os.read(0, 1 << 16)
            if not piece:
                return
            *lines, before = (before + piece).split(b"\n")
            for line in lines:
                try:
                    reply = {"value": keeper.answer(json.loads(line))}
                except Exception as error:  # noqa: BLE001 - the run reports it
                    reply = {"error": _said(error)}
                sys.stdout.write(json.dumps(reply) + "\n")
                sys.stdout.flush()
    finally:
        keeper.end()


if __name__ == "__main__":
    main()
