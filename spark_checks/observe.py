"""Reads a sink into the ledger, by Spark jobs: it works at any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.properties.ledger import Fared, History, Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Read


_NOTHING_THERE = (
    "PATH_NOT_FOUND",
    "TABLE_OR_VIEW_NOT_FOUND",
    "UNABLE_TO_INFER_SCHEMA",
)


class Observer:
    """Knows what the sink should hold, and compares what readers see with it."""

    def __init__(self, expected: DataFrame) -> None:
        """Take ``expected``: the rows as the query makes them, with their ``unit``."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        self._columns = sorted(c for c in expected.columns if c != "unit")
        row = f.xxhash64(*self._columns)
        self._expected = expected.select(row.alias("row"), "unit").localCheckpoint()

    def look(self, spark: SparkSession, read: Read) -> DataFrame:
        """Read the sink now; give a hash of each row that a reader sees.

        A table that is not there yet shows nothing.
        """
        from pyspark.errors import AnalysisException  # noqa: PLC0415
        from pyspark.sql import functions as f  # noqa: PLC0415

        try:
            seen = read(spark).select(f.xxhash64(*self._columns).alias("row"))
        except AnalysisException as error:
            if error.getCondition() not in _NOTHING_THERE:
                raise
            return spark.createDataFrame([], "row bigint")
        return seen.localCheckpoint()

    def histories(self, tellings: Sequence[Telling]) -> list[History]:
        """Count, for several runs and all their moments at once, how events fared."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        numbers = f.array(*map(f.lit, range(len(tellings))))
        frames = self._expected.select(
            "row", "unit", f.explode(numbers).alias("run"), f.lit(-1).alias("moment")
        )
        unit = f.lit(None).cast("int")
        for run, telling in enumerate(tellings):
            for moment, look in enumerate(telling.looks):
                frames = frames.union(
                    look.select("row", unit, f.lit(run), f.lit(moment))
                )
        counts = [f"seen{i}" for i in range(max(len(t.looks) for t in tellings))]
        totals = [
            f.count_if(f.col("moment") == i).alias(c) for i, c in enumerate(counts)
        ]
        by_row = frames.groupBy("run", "row").agg(f.max("unit").alias("unit"), *totals)
        fared = by_row.groupBy("run", "unit", *counts).agg(f.count("*").alias("events"))
        found: list[list[Any]] = [[] for _ in tellings]
        for row in fared.collect():
            found[row["run"]].append(row)
        return [t.history(r) for t, r in zip(tellings, found, strict=True)]


@dataclass(frozen=True)
class Telling:
    """What was seen of one run: at each moment, what readers saw and what was promised.

    ``promised`` holds the batches that the commit log named at that moment.
    """

    moments: tuple[str, ...]
    looks: tuple[DataFrame, ...]
    promised: tuple[set[int], ...]
    rested: bool

    def history(self, counted: Iterable[Any]) -> History:
        """Make the ledger of counts: Spark's rows of a unit, times seen and events."""
        rows = []
        unexplained = [0] * len(self.looks)
        for found in counted:
            seen = [int(found[f"seen{i}"]) for i in range(len(self.looks))]
            if found["unit"] is None:
                for i, times in enumerate(seen):
                    unexplained[i] += times * found["events"]
                continue
            unit = int(found["unit"])
            story = tuple(
                Fared(unit in done, times)
                for done, times in zip(self.promised, seen, strict=True)
            )
            rows.append(Row(unit, accepted=True, fared=story, events=found["events"]))
        return History(
            self.moments, tuple(sorted(rows)), tuple(unexplained), self.rested
        )
