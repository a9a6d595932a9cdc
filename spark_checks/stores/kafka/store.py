"""Kafka: a broker of the replay's own, or the user's by their addresses.

Each interleaving has a topic of its own, and a prefix for all that its sink names
there: further topics, transactional ids, consumer groups.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.interface import StoreError, missing_client
from onceproof.spark_checks.stores.jars.connectors import connector
from onceproof.spark_checks.stores.jars.maven import fetched
from onceproof.spark_checks.stores.kafka import client as kafka_client
from onceproof.spark_checks.stores.kafka import server as kafka_server
from onceproof.spark_checks.stores.kafka.framing import KafkaFraming
from onceproof.spark_checks.stores.kafka.tls import unreadable, without_tls
from onceproof.spark_checks.stores.spark_needs import SparkNeeds, own_version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from onceproof.spark_checks.stores.kafka.client import KafkaRecord
    from onceproof.spark_checks.stores.kafka.server import KeptBrokers

_SERVERS, _ALIAS = "bootstrap.servers", "metadata.broker.list"
_CONNECTS = 15.0
_PARTITIONS = 2
_LINGERS, _LINGER = "linger.ms", "1000"
COMMITTED, UNCOMMITTED = "read_committed", "read_uncommitted"


@dataclass(frozen=True)
class Kafka:
    """Kafka brokers: one that is started for the replays, or your own by address.

    On brokers of your own, only topics and consumer groups are touched whose names
    begin with the prefix of a run.
    """

    servers: str = ""
    """The addresses of brokers of your own: ``host:9092``, or several with commas."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What clients of confluent-kafka need besides: ``security.protocol`` and such."""

    def __post_init__(self) -> None:
        """Refuse what names no brokers."""
        __tracebackhide__ = True
        whole = all(map(_is_address, self.servers.split(",")))
        named = any(name in self.settings for name in (_SERVERS, _ALIAS))
        if (self.servers and not whole) or named:
            message = (
                "Kafka() takes no address, and starts a broker then, or those of "
                "brokers, as Kafka('host:9092,other:9092')"
            )
            raise StoreError(message)
        if self.settings and not self.servers:
            message = (
                "settings of clients are for brokers of your own: name them, as "
                "Kafka('host:9092', {...})"
            )
            raise StoreError(message)

    def __repr__(self) -> str:
        """Show the addresses, and no settings: there are passwords among them."""
        return f"Kafka({self.servers!r})" if self.servers else "Kafka()"

    @property
    def name(self) -> str:
        """The name of the kind of store."""
        return "kafka"

    @property
    def unbreakable(self) -> str:
        """Why connections cannot be broken; empty where they can."""
        return unreadable(self.settings)

    def missing(self) -> tuple[str, ...]:
        """Say what to install: the client, and what a broker needs, if one starts."""
        client = missing_client("confluent_kafka", "kafka")
        return (*client, *(() if self.servers else kafka_server.missing()))

    def version(self) -> str:
        """Name the version of the broker that would be started; none of your own."""
        return "" if self.servers else kafka_server.version()

    def needs(self, settings: Mapping[str, str], folder: Path) -> SparkNeeds:  # noqa: ARG002
        """Need Spark's connector, where there is one for this version of Spark."""
        jars = connector("kafka")
        if own_version([jar.coordinate for jar in jars], settings):
            return SparkNeeds()
        return SparkNeeds(jars=fetched(jars))

    def start(self, folder: Path) -> RunningKafka:
        """Start a broker on free ports of loopback, or look whether yours answer."""
        if self.servers:
            client = {_SERVERS: self.servers, **self.settings}
            return RunningKafka(
                kafka_server.connected(folder, client, _CONNECTS), client, started=False
            )
        brokers, address = kafka_server.start(folder)
        return RunningKafka(brokers, {_SERVERS: address}, started=True)


@dataclass(frozen=True)
class KafkaPlace:
    """A topic that one interleaving has to itself, and a prefix for further names."""

    topic: str
    """The name of a topic of two partitions, which is also the prefix."""
    client: Mapping[str, str] = field(repr=False, hash=False)
    """The options of a client of confluent-kafka: addresses, and what else it needs."""

    @property
    def servers(self) -> str:
        """The addresses of the brokers."""
        return self.client[_SERVERS]

    @property
    def options(self) -> dict[str, str]:
        """The options for Spark's ``kafka`` format as a sink: addresses and topic.

        Where a producer waits for ``flush``, Spark's does so, too.
        """
        waits = {f"kafka.{n}": v for n, v in self.client.items() if n == _LINGERS}
        return {"kafka.bootstrap.servers": self.servers, "topic": self.topic, **waits}

    @property
    def allowed(self) -> tuple[str, ...]:
        """The addresses that Spark may write to for the sink."""
        return tuple(self.servers.split(","))

    @property
    def addresses(self) -> tuple[tuple[str, int], ...]:
        """The hosts and ports of the brokers."""
        pairs = (one.rpartition(":") for one in self.servers.split(","))
        return tuple((host.strip("[]"), int(port)) for host, _, port in pairs)

    @property
    def framing(self) -> KafkaFraming:
        """How requests are read, which a client sends before others are answered."""
        return KafkaFraming(self.topic, self.client)

    @property
    def hadoop(self) -> None:
        """No file system of Hadoop's reaches it."""
        return

    def sent_for(self, request: bytes) -> None:  # noqa: ARG002
        """A request does not say for which thread it is sent."""
        return

    def through(self, port: int) -> KafkaPlace:
        """Return the same place, reached through a port of 127.0.0.1.

        A producer waits for ``flush`` there, so that the number of its requests is
        the same in each run. It speaks without TLS there: its requests are read.
        """
        moved = {_SERVERS: f"127.0.0.1:{port}", _LINGERS: _LINGER}
        return replace(self, client={**without_tls(self.client), **moved})

    def named(self, name: str) -> str:
        """Return a name below the prefix: of a topic, a transactional id, a group."""
        return f"{self.topic}-{name}"

    def create(self, name: str, *, partitions: int = 1, **settings: str) -> str:
        """Create a further topic below the prefix; return its name.

        Settings are those of the topic, with underscores: ``cleanup_policy="compact"``.
        """
        from confluent_kafka import KafkaException  # noqa: PLC0415 - an extra
        from confluent_kafka.admin import AdminClient  # noqa: PLC0415 - an extra
        from confluent_kafka.cimpl import NewTopic  # noqa: PLC0415

        topic = self.named(name)
        config = {key.replace("_", "."): value for key, value in settings.items()}
        admin = AdminClient(kafka_client.quietly(self.client))
        made = admin.create_topics([NewTopic(topic, partitions, config=config)])
        try:
            made[topic].result()
        except KafkaException as error:
            message = f"topic {topic} cannot be created: {error.args[0].str()}"
            raise StoreError(message) from None
        return topic

    def records(
        self, topic: str = "", *, isolation: str = COMMITTED
    ) -> list[KafkaRecord]:
        """Return what a consumer gets now: of this topic, or of another by its name.

        With ``isolation="read_uncommitted"`` that is also what is not committed, or was
        aborted. Raises ``StoreError`` where brokers do not answer.
        """
        if isolation not in (COMMITTED, UNCOMMITTED):
            message = f"isolation is {COMMITTED} or {UNCOMMITTED}, not {isolation!r}"
            raise StoreError(message)
        group = self.named("reader")
        return kafka_client.records(self.client, topic or self.topic, group, isolation)

    def reader(
        self,
        schema: StructType | str,
        *,
        topic: str = "",
        isolation: str = COMMITTED,
    ) -> Callable[[SparkSession], DataFrame]:
        """Return a reader of values that are JSON objects, for the ``read`` of a sink.

        A value that is none raises. The topic and the isolation are as of ``records``.
        """

        def read(spark: SparkSession) -> DataFrame:
            from pyspark.sql.functions import from_json  # noqa: PLC0415 - slow to import

            found = self.records(topic, isolation=isolation)
            values = [((record.value or b"").decode(),) for record in found]
            rows = spark.createDataFrame(values, "value string")
            parsed = from_json("value", schema, {"mode": "FAILFAST"})
            return rows.select(parsed.alias("row")).select("row.*")

        return read


class RunningKafka:
    """Brokers that answer, and the topics that were created there."""

    def __init__(
        self, brokers: KeptBrokers, client: Mapping[str, str], *, started: bool
    ) -> None:
        """Use brokers; end them at the end, if they were ``started`` here."""
        self._brokers = brokers
        self._client = dict(client)
        self._started = started

    @property
    def process(self) -> int | None:
        """The id of the process that keeps the broker, or the connection to yours."""
        return self._brokers.process

    def place(self, name: str) -> KafkaPlace:
        """Create a topic."""
        self._ask("make", topic=name, partitions=_PARTITIONS, settings={})
        return KafkaPlace(name, self._client)

    def append(self, place: KafkaPlace, partition: int, values: list[str]) -> None:
        """Append records to a partition of a place's topic, in order."""
        self._ask("append", topic=place.topic, partition=partition, values=values)

    def drop(self, place: KafkaPlace) -> None:
        """Drop the topics and the groups whose names begin with the place's."""
        self._ask("drop", prefix=place.topic)

    def stop(self) -> None:
        """End what was started here."""
        self._brokers.stop()

    def _ask(self, do: str, **what: object) -> None:
        try:
            self._brokers.ask(do, **what)
        except StoreError as error:
            message = f"the Kafka brokers at {self._client[_SERVERS]}: {error}"
            raise StoreError(message) from None


def _is_address(text: str) -> bool:
    host, sign, port = text.rpartition(":")
    return bool(sign and host and "/" not in host and port.isdigit())
