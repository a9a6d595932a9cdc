"""Shows that a stream takes 0.0 and -0.0 for two values. Needs PySpark alone.

Two events have the keys 0.0 and -0.0, which Spark holds equal. The same line drops
duplicates of a batch and of a stream, and both read the same files.
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

SCHEMA = "price double"


def streamed(events: Any, scratch: str, name: str) -> int:
    """Count the rows of a stream that has read all files."""
    counts = []
    writer = events.writeStream.foreachBatch(
        lambda batch, _: counts.append(batch.count())
    )
    writer = writer.option("checkpointLocation", f"{scratch}/{name}")
    writer.trigger(availableNow=True).start().awaitTermination()
    return sum(counts)


def main() -> None:
    """Drop duplicates of a batch, and of a stream in two ways."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    print(f"PySpark {pyspark.__version__}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "input"
        folder.mkdir()
        for number, price in enumerate((0.0, -0.0)):
            path = folder / f"{number}.json"
            path.write_text(json.dumps({"price": price}) + "\n")
            os.utime(path, (1_600_000_000 + number,) * 2)
        batch = spark.read.schema(SCHEMA).json(str(folder))
        stream: Any = spark.readStream.schema(SCHEMA).json(str(folder))
        timed = stream.withColumn("at", F.timestamp_seconds(F.lit(1)))
        timed = timed.withWatermark("at", "1 hour")
        within = timed.dropDuplicatesWithinWatermark(["price"])
        found = {
            "a batch, dropDuplicates": batch.dropDuplicates(["price"]).count(),
            "a stream, dropDuplicates": streamed(
                stream.dropDuplicates(["price"]), scratch, "all"
            ),
            "a stream, dropDuplicatesWithinWatermark": streamed(
                within, scratch, "within"
            ),
            "a stream, dropDuplicates of price + 0.0": streamed(
                stream.withColumn("price", F.col("price") + 0.0).dropDuplicates(),
                scratch,
                "plus",
            ),
        }
    spark.stop()
    for how, rows in found.items():
        print(f"{how}: {rows} of 1 rows")
    sys.exit(list(found.values()) != [1, 2, 2, 1])


if __name__ == "__main__":
    main()
