"""Shows what a checksum of another attempt does to a query. Needs PySpark alone.

A query keeps the largest random number of each key. Batch 0 has written its state and
its checksums, and the driver dies before it notes the batch as done: the last entry of
``commits`` is deleted. The restart repeats the batch, and writes other state under the
same names. Then the checksums of the first attempt are put in the place of the new
ones, as an attempt leaves them that was slow and goes on. More events arrive.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

CHECKS = "spark.sql.streaming.checkpoint.fileChecksum.enabled"
KEYS, RESTARTS = 10, 2


def offer(folder: Path, number: int) -> None:
    """Write a file with one event of each key."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.json"
    path.write_text("".join(json.dumps({"key": k}) + "\n" for k in range(KEYS)))
    os.utime(path, (1_600_000_000 + number,) * 2)


def run(spark: SparkSession, folder: Path) -> str:
    """Read all that is offered; return why that failed, if it did."""
    events: Any = spark.readStream.schema("key int").json(str(folder / "input"))
    drawn = events.withColumn("draw", F.rand()).groupBy("key").agg(F.max("draw"))
    writer = drawn.writeStream.outputMode("update")
    writer = writer.foreachBatch(lambda batch, _: batch.collect())
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    try:
        writer.trigger(availableNow=True).start().awaitTermination()
    except Exception as error:  # noqa: BLE001 - it is what is shown
        named = re.findall(r"CHECKPOINT_FILE_CHECKSUM\w+", str(error))
        return f"fails, {named[0] if named else type(error).__name__}"
    return "runs"


def main() -> None:
    """Repeat a batch, leave the checksums of its first attempt, and go on."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    print(f"PySpark {pyspark.__version__}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        offer(folder / "input", 0)
        run(spark, folder)
        state = (folder / "checkpoint" / "state").rglob("*.crc")
        first = {p: p.read_bytes() for p in state if not p.name.startswith(".")}
        print(f"checksums of the first attempt: {len(first)}")
        for name in ("0", ".0.crc"):
            (folder / "checkpoint" / "commits" / name).unlink(missing_ok=True)
        print(f"the batch is repeated: the query {run(spark, folder)}")
        for path, text in first.items():
            path.write_bytes(text)
            # The checksum that Hadoop's local file system keeps of each file.
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
        offer(folder / "input", 1)
        found = [run(spark, folder) for _ in range(RESTARTS)]
        for number, why in enumerate(found, 1):
            print(f"start {number} with more events: the query {why}")
        spark.conf.set(CHECKS, "false")
        again = run(spark, folder)
        print(f"without checks of files: the query {again}")
    spark.stop()
    sys.exit("runs" in found or again != "runs")


if __name__ == "__main__":
    main()
