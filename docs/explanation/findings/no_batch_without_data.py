"""Shows that a restart runs no batch without data. Needs PySpark alone.

A query counts in windows. Two events arrive, a batch each; the second closes the window
of the first, which a third batch then shows, a batch without data. A driver dies before
this third batch: what the batch has left is deleted, and the query is started again,
which must show the window. Beside it, nothing fails.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

LAST = 2
RESTARTS = 3


def offer(folder: Path, number: int, minute: int) -> None:
    """Write an event, as the only one of a batch."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.json"
    path.write_text(json.dumps({"at": f"2026-01-01T00:{minute:02}:00Z"}) + "\n")
    os.utime(path, (1_600_000_000 + number,) * 2)


def run(spark: SparkSession, folder: Path) -> None:
    """Read all that is offered, and write each batch to a folder of its own."""

    def overwrite(batch: Any, number: int) -> None:
        batch.write.mode("overwrite").parquet(str(folder / "result" / f"n={number}"))

    events: Any = spark.readStream.schema("at timestamp")
    counts = (
        events.option("maxFilesPerTrigger", 1)
        .json(str(folder / "input"))
        .withWatermark("at", "1 minute")
        .groupBy(F.window("at", "1 minute"))
        .count()
    )
    writer = counts.writeStream.trigger(availableNow=True).foreachBatch(overwrite)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    query.awaitTermination()


def windows(spark: SparkSession, folder: Path) -> int:
    """Count the windows that readers see."""
    return spark.read.parquet(str(folder / "result")).count()


def take_back(folder: Path) -> None:
    """Delete what the last batch has left, as if its driver had died before it."""
    checkpoint = folder / "checkpoint"
    shutil.rmtree(folder / "result" / f"n={LAST}")
    for log in ("offsets", "commits"):
        (checkpoint / log / str(LAST)).unlink()
        (checkpoint / log / f".{LAST}.crc").unlink(missing_ok=True)
    for path in [*checkpoint.glob(f"state/0/*/{LAST + 1}.delta")]:
        path.unlink()
        for beside in path.parent.glob(f".{path.name}*.crc"):
            beside.unlink()


def main() -> None:
    """Run the query without a fault, then restart it as after a crash."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        offer(folder / "input", 0, 1)
        offer(folder / "input", 1, 10)
        run(spark, folder)
        print(f"no fault: readers see {windows(spark, folder)} of 1 windows")
        take_back(folder)
        for number in range(1, RESTARTS + 1):
            run(spark, folder)
            shown = windows(spark, folder)
            print(f"restart {number}: readers see {shown} of 1 windows")
        offer(folder / "input", 2, 11)
        run(spark, folder)
        print(f"with one more event: readers see {windows(spark, folder)} of 1 windows")
    spark.stop()


if __name__ == "__main__":
    main()
