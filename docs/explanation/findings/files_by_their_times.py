"""Shows which files the file source never reads. Needs PySpark alone.

A query reads the files of a folder, one run after another. Then a file arrives whose
time is long past, as ``cp -p``, ``rsync -a`` or ``distcp -pt`` leave it. At last a file
arrives whose time is ten days ahead, as a machine with a wrong clock leaves it, and
after it files of the present. Then the same once more, with a ``maxFileAge`` of years.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

DAY = 24 * 60 * 60
ARRIVING = (
    ("now", 0.0),
    ("30 days ago", -30.0 * DAY),
    ("in 10 days", 10.0 * DAY),
    ("now", 60.0),
    ("now", 120.0),
)
READ = {"": {0, 2}, "3650d": set(range(len(ARRIVING)))}


def run(spark: SparkSession, folder: Path, age: str) -> set[int]:
    """Run the query on what is there; return the events that it reads."""
    seen: set[int] = set()

    def look(batch: Any, _: int) -> None:
        seen.update(row.id for row in batch.collect())

    reader: Any = spark.readStream.schema("id int")
    if age:
        reader = reader.option("maxFileAge", age)
    events = reader.json(str(folder / "input"))
    writer = events.writeStream.foreachBatch(look).trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.start().awaitTermination()
    return seen


def arrivals(spark: SparkSession, age: str) -> set[int]:
    """Let files arrive, and run the query after each; return the events it reads."""
    seen: set[int] = set()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "input").mkdir()
        started = time.time()
        for number, (when, seconds) in enumerate(ARRIVING):
            path = folder / "input" / f"{number}.json"
            path.write_text(json.dumps({"id": number}) + "\n")
            os.utime(path, (started + seconds,) * 2)
            seen |= run(spark, folder, age)
            what = "is read" if number in seen else "is not read"
            if not age:
                print(f"file {number}, written {when}: {what}")
        return seen | run(spark, folder, age)


def main() -> None:
    """Let files arrive with the default age, and with one of years."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    print(f"PySpark {pyspark.__version__}")
    found = {age: arrivals(spark, age) for age in READ}
    print(f"after one more run: {len(found[''])} of {len(ARRIVING)} files are read")
    years = len(found["3650d"])
    print(f"with a maxFileAge of years: {years} of {len(ARRIVING)} files are read")
    spark.stop()
    sys.exit(found != READ)


if __name__ == "__main__":
    main()
