"""Reads a sink into the ledger, by Spark jobs: it works at any size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.properties.ledger import Fared, History, Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Read


class Observer:
    """Knows what the sink should hold, and compares what readers see with it."""

    def __init__(self, expected: DataFrame) -> None:
        """Take ``expected``: the rows as the query makes them, with their ``unit``."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        self._columns = sorted(c for c in expected.columns if c != "unit")
        row = f.xxhash64(*self._columns)
        self._expected = expected.select(row.alias("row"), "unit").localCheckpoint()

    def look(self, spark: SparkSession, read: Read) -> DataFrame:
        """Read the sink now; give a hash of each row that a reader sees."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        seen = read(spark).select(f.xxhash64(*self._columns).alias("row"))
        return seen.localCheckpoint()

    def history(
        self,
        looks: list[DataFrame],
        promised: list[set[int]],
        moments: list[str],
        *,
        rested: bool,
    ) -> History:
        """Count, for all moments at once, how each event fared."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        counts = [f"seen{i}" for i in range(len(looks))]
        zeros = [f.lit(0).alias(c) for c in counts]
        frames = self._expected.select("row", "unit", *zeros)
        for i, look in enumerate(looks):
            ones = [f.lit(int(i == j)).alias(c) for j, c in enumerate(counts)]
            unit = f.lit(None).cast("int").alias("unit")
            frames = frames.unionByName(look.select("row", unit, *ones))
        totals = [f.sum(c).alias(c) for c in counts]
        by_row = frames.groupBy("row").agg(f.max("unit").alias("unit"), *totals)
        fared = by_row.groupBy("unit", *counts).agg(f.count("*").alias("events"))
        rows = []
        unexplained = [0] * len(looks)
        for found in fared.collect():
            seen = [int(found[c]) for c in counts]
            if found["unit"] is None:
                for i, times in enumerate(seen):
                    unexplained[i] += times * found["events"]
                continue
            unit = int(found["unit"])
            story = tuple(
                Fared(unit in done, times)
                for done, times in zip(promised, seen, strict=True)
            )
            rows.append(Row(unit, accepted=True, fared=story, events=found["events"]))
        return History(tuple(moments), tuple(sorted(rows)), tuple(unexplained), rested)
