"""A configuration as data: how Spark keeps state and moves on, and where rows go."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.model.text import did_you_mean
from onceproof.model.versions import versions_of
from onceproof.spark_checks.queries.query_spec import OutputMode
from onceproof.spark_checks.queries.sources import SOURCES

if TYPE_CHECKING:
    from onceproof.spark_checks.queries.query_spec import QuerySpec

_STATE = "org.apache.spark.sql.execution.streaming.state."
_PROVIDERS = {
    "hdfs": f"{_STATE}HDFSBackedStateStoreProvider",
    "rocksdb": f"{_STATE}RocksDBStateStoreProvider",
}
CHOICES = {
    "provider": tuple(_PROVIDERS),
    "changelog": ("off", "on"),
    "format": ("1", "2"),
    "trigger": ("available-now", "processing-time"),
    "sink": ("foreach-batch", "files", "skips", "kafka"),
    "progress": ("logged", "async"),
    "source": tuple(SOURCES),
}
"""What each setting of a configuration can be."""


@dataclass(frozen=True)
class QueryConfiguration:
    """How a query is run."""

    provider: str = "hdfs"
    """The state store provider: ``hdfs`` or ``rocksdb``."""
    changelog: str = "off"
    """Whether RocksDB writes changelogs: ``on`` or ``off``."""
    format: str = "1"
    """The format of the state in the checkpoint: ``1`` or ``2``."""
    trigger: str = "available-now"
    """What starts a batch: ``available-now`` or ``processing-time``."""
    sink: str = "foreach-batch"
    """Where rows go: ``foreach-batch`` writes a file for each batch id, in one step;
    ``files`` is Spark's file sink, read through its manifest; ``skips`` is the first,
    and leaves out a batch id that is there already; ``kafka`` is Spark's Kafka sink,
    of which readers keep the last row of each key."""
    progress: str = "logged"
    """When a batch is logged: ``logged`` before and after it runs, as is usual, or
    ``async``, by Spark's asynchronous progress tracking, in the background."""
    source: str = "files"
    """Where events come from: ``files``, ``rate-micro-batch``, Spark's source that
    counts rows by itself, or ``kafka``, a topic of a broker that is started for it."""
    partitions: int = 2
    """How many partitions the state has."""
    retain: int = 100
    """How many batches Spark keeps logs and state of."""

    @property
    def name(self) -> str:
        """Name what differs from the default."""
        plain = QueryConfiguration()
        odd = [
            f"{f.name}={getattr(self, f.name)}"
            for f in fields(self)
            if getattr(self, f.name) != getattr(plain, f.name)
        ]
        return ",".join(odd) or "default"

    def settings(self) -> dict[str, str]:
        """Return Spark's settings."""
        of_state = "spark.sql.streaming.stateStore."
        changelog = "true" if self.changelog == "on" else "false"
        return {
            f"{of_state}providerClass": _PROVIDERS[self.provider],
            f"{of_state}rocksdb.changelogCheckpointing.enabled": changelog,
            f"{of_state}checkpointFormatVersion": self.format,
            "spark.sql.shuffle.partitions": str(self.partitions),
            "spark.sql.streaming.minBatchesToRetain": str(self.retain),
        }

    def refusal(self, query: QuerySpec) -> str:
        """Return why Spark does not run a query so; the empty text if it does."""
        if query.since and not _is_at_least(query.since):
            return f"its operator is in PySpark {query.since} and later"
        if self.provider == "hdfs" and (self.changelog == "on" or self.format != "1"):
            return "changelogs and checkpoint format 2 are RocksDB's (provider=rocksdb)"
        if self.format == "2" and self.changelog == "off":
            return "checkpoint format 2 needs changelogs (changelog=on)"
        if self.provider == "hdfs" and query.only_rocksdb:
            return "its state needs RocksDB (provider=rocksdb)"
        if self.sink == "files" and query.mode is not OutputMode.APPEND:
            return "the file sink only appends"
        if self.sink == "files" and query.writes > 1:
            return "only foreachBatch writes several times"
        if reason := self._of_kafka(query):
            return reason
        if self.trigger not in SOURCES[self.source].triggers:
            return f"a query on {self.source} does not end with {self.trigger}"
        if not query.stateful and self.provider != "hdfs":
            return "it has no state"
        return ""

    def _of_kafka(self, query: QuerySpec) -> str:
        """Return why rows cannot go to Kafka, or progress cannot be asynchronous."""
        if self.sink == "kafka":
            if self.source != "kafka":
                return "rows go to the brokers that events come from: source=kafka"
            if not query.key or query.mode is OutputMode.COMPLETE:
                return "rows of a topic replace each other by a key"
            if query.writes > 1:
                return "only foreachBatch writes several times"
        if self.progress == "async":
            if self.sink != "kafka":
                return "of lasting sinks, Spark allows async progress for Kafka's alone"
            if query.stateful:
                return "async progress is for queries without state"
            if self.trigger == "available-now":
                return "async progress is not for available-now"
        return ""


def _is_at_least(version: str) -> bool:
    here, needed = (
        [int(n) for n in text.split(".")[:2]]
        for text in (versions_of("pyspark")["pyspark"], version)
    )
    return here >= needed


def parsed(text: str) -> QueryConfiguration:
    """Read a configuration such as ``provider=rocksdb,changelog=on``.

    Raises ``UsageError``.
    """
    found = QueryConfiguration()
    for part in text.split(",") if text != "default" else ():
        name, _, value = part.partition("=")
        if name not in {f.name for f in fields(QueryConfiguration)}:
            hint = did_you_mean(name, [f.name for f in fields(QueryConfiguration)])
            message = f"a configuration has no {name!r}; {hint}"
            raise UsageError(message)
        if name in CHOICES:
            if value not in CHOICES[name]:
                message = f"{name} is one of {', '.join(CHOICES[name])}, not {value!r}"
                raise UsageError(message)
            found = replace(found, **{name: value})  # type: ignore[arg-type]
            continue
        if not value.isdigit() or int(value) < 1:
            message = f"{name} is a number of 1 or more, not {value!r}"
            raise UsageError(message)
        found = replace(found, **{name: int(value)})  # type: ignore[arg-type]
    return found


CONFIGURATIONS = (
    QueryConfiguration(),
    QueryConfiguration(provider="rocksdb"),
    QueryConfiguration(provider="rocksdb", changelog="on"),
    QueryConfiguration(provider="rocksdb", changelog="on", format="2"),
    QueryConfiguration(sink="files"),
    QueryConfiguration(provider="rocksdb", changelog="on", format="2", sink="files"),
    QueryConfiguration(sink="skips"),
    QueryConfiguration(provider="rocksdb", changelog="on", format="2", sink="skips"),
    QueryConfiguration(trigger="processing-time"),
    QueryConfiguration(provider="rocksdb", retain=1),
    QueryConfiguration(provider="rocksdb", changelog="on", retain=2),
    QueryConfiguration(source="rate-micro-batch"),
    QueryConfiguration(source="kafka"),
    QueryConfiguration(source="kafka", sink="kafka"),
    QueryConfiguration(
        source="kafka", sink="kafka", trigger="processing-time", progress="async"
    ),
)
"""The configurations of the grid."""
