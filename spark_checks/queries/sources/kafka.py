"""Events from a topic of Kafka: a partition for each side.

A batch has as many records as any other in each partition, so that Spark's limit of
records cuts the topic into these batches. Records that fill up a batch are empty.
"""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING

from onceproof.spark_checks.queries import events
from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.kafka.store import RunningKafka

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.stores.interface import RunningStore


class KafkaInput:
    """A topic; the query reads it as one input, or each partition as an input."""

    def __init__(
        self, folder: Path, inputs: int, store: RunningStore | None = None
    ) -> None:
        """Make a topic of its own."""
        del folder
        if not isinstance(store, RunningKafka):
            message = "the source kafka needs brokers that run"
            raise StoreError(message)
        self._store = store
        self._inputs = inputs
        self._parts = events.of_inputs(events.lines(events.BATCHES), len(events.SIDES))
        self._records = max(len(batch) for part in self._parts for batch in part)
        self._place = store.place(f"grid_{uuid.uuid4().hex}")

    def offer(self, begin: int, end: int) -> None:
        """Append the batches to each partition."""
        for number, part in enumerate(self._parts):
            batches = events.padded(part, self._records)[begin:end]
            texts = [text for batch in batches for text in batch]
            self._store.append(self._place, number, texts)

    def hold_again(self, end: int) -> None:
        """Make the topic anew, with the same name and the first batches."""
        self._store.drop(self._place)
        self._place = self._store.place(self._place.topic)
        self.offer(0, end)

    def frames(self, spark: SparkSession) -> list[DataFrame]:
        """Read as many records in each batch as a batch has."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415 - slow to import

        sides = range(len(self._parts))
        each = [list(sides)] if self._inputs == 1 else [[side] for side in sides]
        found = []
        for partitions in each:
            source = (
                spark.readStream.format("kafka")
                .option("kafka.bootstrap.servers", self._place.servers)
                .option("assign", json.dumps({self._place.topic: partitions}))
                .option("startingOffsets", "earliest")
                .option("maxOffsetsPerTrigger", self._records * len(partitions))
                .load()
            )
            text = F.col("value").cast("string")
            event = F.from_json(text, events.SCHEMA).alias("event")
            filled = source.where(F.length("value") > 0)
            found.append(filled.select(event).select("event.*"))
        return found

    def ends(self, begin: int, end: int) -> list[int]:
        """Return one run, or none if there is nothing to read."""
        return [end] if begin < end else []

    def read(self, checkpoint: Path, offered: int) -> int:
        """Return what was offered: a run reads all that is there."""
        del checkpoint
        return offered

    def read_by(self, sources: Sequence[str]) -> int:
        """Return how many batches each partition has been read of."""
        ends = [
            int(end)
            for line in sources
            for partitions in json.loads(line).values()
            for end in partitions.values()
        ]
        return min(ends) // self._records

    def close(self) -> None:
        """Drop the topic."""
        self._store.drop(self._place)
