"""Shows that a restart forgets the watermarks of inputs. Needs PySpark alone.

A query counts the events of two inputs in windows of a minute. The left input reaches
minute 50, and then the right one minute 40: the watermark is the earlier of both, and
the window of minute 1 is closed. The query runs once without an end, and once in three
runs by ``availableNow``, of which nothing fails. Both read the same files.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

ARRIVING = ((("left", 1), ("right", 1)), (("left", 50),), (("right", 40),))


def offer(folder: Path, number: int, minute: int) -> None:
    """Write a file with one event."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.json"
    path.write_text(json.dumps({"at": f"2026-01-01T00:{minute:02}:00Z"}) + "\n")
    os.utime(path, (1_600_000_000 + number,) * 2)


def counting(spark: SparkSession, folder: Path, shown: list[str]) -> Any:
    """Return what starts the query, whose closed windows go into a list."""

    def events(side: str) -> Any:
        (folder / side).mkdir(exist_ok=True)
        files: Any = spark.readStream.schema("at timestamp").json(str(folder / side))
        return files.withWatermark("at", "0 seconds")

    def show(batch: Any, _: int) -> None:
        rows = batch.select(F.date_format("window.start", "mm"), "count").collect()
        shown.extend(f"minute {minute}: {count}" for minute, count in rows)

    both = events("left").union(events("right"))
    counts = both.groupBy(F.window("at", "1 minute")).count()
    writer = counts.writeStream.foreachBatch(show)
    return writer.option("checkpointLocation", str(folder / "checkpoint"))


def main() -> None:
    """Run the query without an end, and in three runs."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    found: dict[str, list[str]] = {"one run": [], "three runs": []}
    print(f"PySpark {pyspark.__version__}")
    for name, shown in found.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            query = counting(spark, folder, shown)
            endless = query.start() if name == "one run" else None
            for number, files in enumerate(ARRIVING):
                for side, minute in files:
                    offer(folder / side, number, minute)
                if endless is None:
                    query.trigger(availableNow=True).start().awaitTermination()
                else:
                    endless.processAllAvailable()
            if endless is not None:
                endless.stop()
        print(f"{name}: {', '.join(shown) or 'no window is shown'}")
    spark.stop()
    sys.exit(found["one run"] == found["three runs"])


if __name__ == "__main__":
    main()
