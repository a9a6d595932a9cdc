"""What a replay reads: events in files, one for each partition of each batch."""

from __future__ import annotations

import copy
import itertools
import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

_FIRST_TIME = 1_600_000_000
JSON_OPTIONS = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


@dataclass(frozen=True)
class Input:
    """The events of a replay, as lines of JSON in files."""

    schema: str
    """Their schema, as DDL or as Spark's JSON."""
    pieces: tuple[tuple[str, ...], ...]
    """The lines of each file, batch by batch."""
    tasks: int
    """How many files a batch has: one for each task."""
    step: Callable[[DataFrame], DataFrame]
    """The transformation that every event passes before the sink."""
    key: tuple[str, ...] = ()
    """The columns that identify an event; if empty, all columns do."""
    own: bool = False
    """Whether the events are the user's own."""

    @property
    def batches(self) -> int:
        """Count the batches."""
        return len(self.pieces) // self.tasks

    @property
    def events(self) -> int:
        """Count the events."""
        return sum(map(len, self.pieces))


def cut(lines: Sequence[str], batches: int, tasks: int) -> tuple[tuple[str, ...], ...]:
    """Cut events into as many pieces as there are files, of one size but the last.

    Raises ``UsageError`` where there are too few.
    """
    enough(len(lines), batches, tasks)
    files = batches * tasks
    share = len(lines) // files
    ends = [*(share * number for number in range(files)), len(lines)]
    return tuple(tuple(lines[begin:end]) for begin, end in itertools.pairwise(ends))


def enough(events: int, batches: int, tasks: int) -> None:
    """Raise ``UsageError`` where there are too few events for the files."""
    if events < batches * tasks:
        message = (
            f"{events} events are too few for {batches} batches of {tasks} files, "
            "one for each partition"
        )
        raise UsageError(message)


class InputFiles:
    """The files of an input, in a folder of their own."""

    def __init__(self, folder: Path, given: Input) -> None:
        """Write the files."""
        self.folder = folder
        self.given = given
        self.batches = given.batches
        self.tasks = given.tasks
        folder.mkdir(parents=True)
        for number, lines in enumerate(given.pieces):
            self._write(number, lines)

    def without_lines(self) -> InputFiles:
        """Return the same files for another process, which writes none of them."""
        found = copy.copy(self)
        found.given = replace(self.given, pieces=())
        return found

    def path(self, number: int) -> Path:
        """Return the place of a file."""
        return self.folder / f"{number:04}.json"

    def offer(self, folder: Path, batches: int) -> None:
        """Let a query's input ``folder`` hold the files of the first batches."""
        folder.mkdir(exist_ok=True)
        for number in range(batches * self.tasks):
            offered = folder / f"{number:04}.json"
            if not offered.exists():
                os.link(self.path(number), offered)

    def stream(
        self, spark: SparkSession, folder: Path, *, joined: bool = False
    ) -> DataFrame:
        """Read what is offered in a folder, a batch at a time, or ``joined`` in one."""
        reader = spark.readStream.schema(self._schema()).options(**JSON_OPTIONS)
        most = self.tasks * (self.batches if joined else 1)
        files = reader.option("maxFilesPerTrigger", most).json(str(folder))
        return self.given.step(files)

    def first(self, spark: SparkSession, batches: int) -> DataFrame:
        """Read the first batches, all at once; of none, no event."""
        if not batches:
            return self.batch(spark, 0).limit(0)
        return self._read(spark, range(batches * self.tasks))

    def batch(self, spark: SparkSession, number: int) -> DataFrame:
        """Read one batch."""
        return self._read(spark, range(number * self.tasks, (number + 1) * self.tasks))

    def _schema(self) -> Any:
        from pyspark.sql.types import StructType  # noqa: PLC0415

        schema = self.given.schema
        return StructType.fromJson(json.loads(schema)) if schema[:1] == "{" else schema

    def _read(self, spark: SparkSession, files: range) -> DataFrame:
        reader: Any = spark.read.schema(self._schema()).options(**JSON_OPTIONS)
        paths = [str(self.path(number)) for number in files]
        return self.given.step(reader.json(paths))

    def _write(self, number: int, lines: Sequence[str]) -> None:
        text = "".join(f"{line}\n" for line in lines)
        # Spark gives larger files lower partitions, so files get smaller in a batch.
        batch = number // self.tasks
        longest = max(
            sum(len(line.encode()) + 1 for line in piece)
            for piece in self.given.pieces[batch * self.tasks :][: self.tasks]
        )
        size = (self.tasks - number % self.tasks) * (longest + 2)
        path = self.path(number)
        path.write_text(text + " " * max(0, size - len(text.encode()) - 1) + "\n")
        os.utime(path, (_FIRST_TIME + 10 * number,) * 2)
