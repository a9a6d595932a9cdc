"""Shows what a skipped batch does to a query with state. Needs PySpark alone.

A query counts in windows and writes by Spark's own file sink. Once it rests, the last
entry of ``commits`` is deleted: that is what a driver leaves that dies after the sink's
commit. The query is started again, which must change nothing. Beside it, the same query
writes by foreachBatch, which overwrites a folder for each batch, and skips none.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

STATE = "spark.sql.streaming.stateStore."
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
FOLLOWS = "spark.sql.streaming.noDataMicroBatches.enabled"
SETTINGS = {
    "format 1": {},
    "format 2": {
        f"{STATE}providerClass": ROCKSDB,
        f"{STATE}rocksdb.changelogCheckpointing.enabled": "true",
        f"{STATE}checkpointFormatVersion": "2",
    },
}


def offer(folder: Path, number: int, minute: int) -> None:
    """Write an event, as the only one of a batch."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.json"
    path.write_text(json.dumps({"at": f"2026-01-01T00:{minute:02}:00Z"}) + "\n")
    os.utime(path, (1_600_000_000 + number,) * 2)


def run(spark: SparkSession, folder: Path, sink: str) -> str:
    """Read all that is offered; return why that failed, if it did."""

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
    writer = counts.writeStream.trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    if sink == "file sink":
        writer = writer.format("parquet").option("path", str(folder / "result"))
    else:
        writer = writer.foreachBatch(overwrite)
    query = writer.start()
    try:
        query.awaitTermination()
    except Exception as error:  # noqa: BLE001 - it is what is shown
        text = str(error).partition("exception: ")[2]
        return text.partition(" SQLSTATE")[0].strip()
    return ""


def windows(spark: SparkSession, folder: Path) -> int:
    """Count the windows that readers see."""
    return spark.read.parquet(str(folder / "result")).count()


def show(spark: SparkSession, folder: Path, name: str, *, crashes: bool) -> None:
    """Run a query, with a driver that dies or without; print what readers see."""
    sink = name.partition(", ")[2]
    offer(folder / "input", 0, 1)
    offer(folder / "input", 1, 10)
    if crashes:
        # The driver dies before a batch without data follows.
        spark.conf.set(FOLLOWS, "false")
        run(spark, folder, sink)
        spark.conf.set(FOLLOWS, "true")
        commits = folder / "checkpoint" / "commits"
        (commits / "1").unlink()
        (commits / ".1.crc").unlink(missing_ok=True)
    why = [run(spark, folder, sink) for _ in range(2)][-1] or "it runs"
    how = "the driver dies" if crashes else "no fault"
    print(f"{name}, {how}: {why}; readers see {windows(spark, folder)} of 1 windows")


def main() -> None:
    """Run the query with each format, with the crash and without it."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    for name, settings in SETTINGS.items():
        for key, value in settings.items():
            spark.conf.set(key, value)
        for sink in ("file sink", "foreachBatch"):
            for crashes in (False, True):
                with tempfile.TemporaryDirectory() as scratch:
                    show(spark, Path(scratch), f"{name}, {sink}", crashes=crashes)
    spark.stop()


if __name__ == "__main__":
    main()
