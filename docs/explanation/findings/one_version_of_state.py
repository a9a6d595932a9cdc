"""Shows what `minBatchesToRetain = 1` does to a query with state. Needs PySpark alone.

A query counts by key, with state in RocksDB. In batch 1 the entry ``commits/1`` cannot
be written, as on a full disk, and the query fails. Its state of batch 1 is written. The
disk is then free again, Spark's maintenance runs, and the query is started again: it
has to repeat batch 1, from the state of batch 0.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

STREAMING = "spark.sql.streaming."
PROVIDERS = {
    "RocksDB": "org.apache.spark.sql.execution.streaming.state."
    "RocksDBStateStoreProvider",
    "files": "org.apache.spark.sql.execution.streaming.state."
    "HDFSBackedStateStoreProvider",
}
MAINTENANCE_SECONDS = 1
REASONS = {
    "CANNOT_LOAD_STATE_STORE": "CANNOT_LOAD_STATE_STORE",
    # What 3.5 says of the same.
    "Error reading streaming state file": "Error reading streaming state file",
    "CONCURRENT_STREAM_LOG_UPDATE": "commits/1 cannot be written",
}


def offer(folder: Path, number: int) -> None:
    """Write an event, as the only one of a batch."""
    folder.mkdir(exist_ok=True)
    (folder / f"{number}.json").write_text(json.dumps({"key": "a"}) + "\n")


def run(spark: SparkSession, folder: Path, *, blocked: int | None = None) -> str:
    """Read all that is offered; return why that failed, if it did.

    The entry of the batch ``blocked`` in the commit log cannot be written.
    """

    def callback(batch: Any, number: int) -> None:
        batch.collect()
        if number == blocked:
            (folder / "checkpoint" / "commits" / str(number)).touch()

    events: Any = spark.readStream.schema("key string")
    counts = events.json(str(folder / "input")).groupBy("key").count()
    writer = counts.writeStream.outputMode("update").foreachBatch(callback)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start()
    try:
        query.awaitTermination()
    except Exception as error:  # noqa: BLE001 - it is what is shown
        found = str(error)
        return next((why for text, why in REASONS.items() if text in found), found)
    return ""


def show(spark: SparkSession, folder: Path, name: str) -> None:
    """Let the query fail before ``commits/1``, and start it again twice."""
    offer(folder / "input", 0)
    run(spark, folder)
    offer(folder / "input", 1)
    print(f"{name}: batch 1 fails: {run(spark, folder, blocked=1)}")
    (folder / "checkpoint" / "commits" / "1").unlink()
    time.sleep(4 * MAINTENANCE_SECONDS)
    for number in (1, 2):
        why = run(spark, folder) or "it runs"
        print(f"{name}: restart {number}: {why}")


def main() -> None:
    """Run the query with one version of state kept, and with two."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config(f"{STREAMING}stateStore.maintenanceInterval", f"{MAINTENANCE_SECONDS}s")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    for provider, retain in (("RocksDB", 1), ("RocksDB", 2), ("files", 1)):
        spark.conf.set(f"{STREAMING}stateStore.providerClass", PROVIDERS[provider])
        spark.conf.set(f"{STREAMING}minBatchesToRetain", str(retain))
        with tempfile.TemporaryDirectory() as scratch:
            show(spark, Path(scratch), f"{provider}, {retain} to retain")
    spark.stop()


if __name__ == "__main__":
    main()
