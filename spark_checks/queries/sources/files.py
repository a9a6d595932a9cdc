"""Events in files of JSON: two for each batch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.queries import events

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.stores.interface import RunningStore


class FileInput:
    """A folder for each side, with a file for each batch."""

    def __init__(
        self, folder: Path, inputs: int, store: RunningStore | None = None
    ) -> None:
        """Use a ``folder``; it holds no batch yet."""
        del store
        self._folder = folder
        self._inputs = inputs

    def offer(self, begin: int, end: int) -> None:
        """Put the files there."""
        events.offer(self._folder, events.lines(events.BATCHES)[begin:end], begin)

    def hold_again(self, end: int) -> None:
        """Do nothing: the files are in the folder that was put back."""

    def frames(self, spark: SparkSession) -> list[DataFrame]:
        """Read a batch's files in each batch."""
        reader: Any = spark.readStream.option("maxFilesPerTrigger", 3 - self._inputs)
        return self._read(reader)

    def as_batch(self, spark: SparkSession) -> list[DataFrame]:
        """Read all files in a batch query."""
        return self._read(spark.read)

    def ends(self, begin: int, end: int) -> list[int]:
        """Return one run, or none if there is nothing to read."""
        return [end] if begin < end else []

    def read(self, checkpoint: Path, offered: int) -> int:
        """Return what was offered: a run reads all that is there."""
        del checkpoint
        return offered

    def read_by(self, sources: Sequence[str]) -> int:
        """Return the number of the last entry of the source's own log, from 1."""
        return min(int(json.loads(line)["logOffset"]) for line in sources) + 1

    def close(self) -> None:
        """Do nothing: the folder is removed by its owner."""

    def _read(self, reader: Any) -> list[DataFrame]:
        places = [str(self._folder / side) for side in events.SIDES]
        if self._inputs == 1:
            # Both sides: a glob keeps them one source, two files for each batch.
            places = [str(self._folder / "*")]
        reader = reader.schema(events.SCHEMA)
        return [reader.json(place) for place in places]
