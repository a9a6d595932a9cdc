"""Shows state of a deleted checkpoint in the one that follows. Needs PySpark alone.

A query counts by key. It runs three times in one session, each time from the beginning,
with other events, and with a new checkpoint in the folder of the one before, which was
deleted. Spark's maintenance then runs, which it does each minute. When the last query
goes on, its counts of some keys begin with those of a query before. All settings are
Spark's own, but for the number of partitions.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

KEYS = [f"key-{number}" for number in range(40)]
BATCHES, QUERIES = 12, 3
PAUSE_SECONDS, MOST_SECONDS = 1, 150
PARTITIONS = 6


def offer(folder: Path, number: int, times: int) -> None:
    """Write a file that has each key so many times."""
    folder.mkdir(exist_ok=True)
    rows = [json.dumps({"key": key}) for key in KEYS] * times
    (folder / f"{number}.json").write_text("\n".join(rows) + "\n")


def run(spark: SparkSession, events: Path, checkpoint: Path) -> dict[str, int]:
    """Read all that is offered; return the last count of each key."""
    counts: dict[str, int] = {}

    def callback(batch: Any, number: int) -> None:
        del number
        counts.update({row["key"]: row["count"] for row in batch.collect()})

    stream: Any = spark.readStream.schema("key string")
    rows = stream.option("maxFilesPerTrigger", 1).json(str(events))
    writer = rows.groupBy("key").count().writeStream.outputMode("update")
    writer = writer.foreachBatch(callback).option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).start().awaitTermination()
    return counts


def wait_for_snapshots(checkpoint: Path) -> None:
    """Wait until maintenance has written a snapshot of each partition's state."""
    ends = time.monotonic() + MOST_SECONDS
    while len({f.parent for f in checkpoint.glob("state/*/*/*.snapshot")}) < PARTITIONS:
        if time.monotonic() > ends:
            sys.exit("no maintenance has run")
        time.sleep(PAUSE_SECONDS)
    time.sleep(PAUSE_SECONDS)


def main() -> int:
    """Print whether counts are wrong before maintenance, and after it."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.shuffle.partitions", PARTITIONS)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as scratch:
        checkpoint = Path(scratch) / "checkpoint"
        for query in range(1, QUERIES + 1):
            shutil.rmtree(checkpoint, ignore_errors=True)
            events = Path(scratch) / f"events-{query}"
            for number in range(BATCHES):
                offer(events, number, times=query)
            before = run(spark, events, checkpoint)
        wait_for_snapshots(checkpoint)
        offer(events, BATCHES, times=QUERIES)
        after = run(spark, events, checkpoint)
        spark.stop()
    wrong = sum(before[key] != BATCHES * QUERIES for key in KEYS)
    print(f"before maintenance, {wrong} of {len(KEYS)} counts are wrong")
    deleted = {BATCHES * query + QUERIES for query in range(1, QUERIES)}
    wrong = sum(after[key] in deleted for key in KEYS)
    print(f"after it, {wrong} of {len(KEYS)} counts go on from a deleted checkpoint")
    return 0 if wrong else 1


if __name__ == "__main__":
    sys.exit(main())
