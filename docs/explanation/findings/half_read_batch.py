"""Shows what a callback leaves that reads a part of a batch. Needs PySpark alone.

A query counts by key and writes by foreachBatch. For the first batch the callback
looks at one row, as ``take(1)`` or ``show()`` does. Spark runs no task for the
partitions that are not needed, so their state is not written. The query is then given
more events, and is started again and again, with a callback that reads each batch
whole.
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

KEYS, RESTARTS = 20, 3


def offer(folder: Path, number: int) -> None:
    """Write a file with one event of each key, as the only one of a batch."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.json"
    path.write_text("".join(json.dumps({"key": k}) + "\n" for k in range(KEYS)))
    os.utime(path, (1_600_000_000 + number,) * 2)


def run(spark: SparkSession, folder: Path, *, whole: bool) -> str:
    """Read all that is offered; return why that failed, if it did."""

    def look(batch: Any, _: int) -> None:
        if whole:
            batch.collect()
        else:
            batch.take(1)

    events: Any = spark.readStream.schema("key int").option("maxFilesPerTrigger", 1)
    counts = events.json(str(folder / "input")).groupBy("key").count()
    writer = counts.writeStream.outputMode("update").foreachBatch(look)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    try:
        writer.trigger(availableNow=True).start().awaitTermination()
    except Exception as error:  # noqa: BLE001 - it is what is shown
        # PySpark 3.5 has no name for it.
        named = re.findall(r"CANNOT_LOAD_STATE\w+|delta does not exist", str(error))
        text = str(error).partition("terminated with exception: ")[2]
        return f"fails, {named[0] if named else text.splitlines()[0]}"
    return "runs"


def main() -> None:
    """Look at one row of the first batch, and read the others whole."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    print(f"PySpark {pyspark.__version__}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        offer(folder / "input", 0)
        first = run(spark, folder, whole=False)
        noted = (folder / "checkpoint" / "commits" / "0").exists()
        states = len(list((folder / "checkpoint" / "state" / "0").glob("*/1.delta")))
        print(f"the first batch is looked at: the query {first}")
        print(f"batch 0 is noted as done: {noted}; state of {states} of 4 partitions")
        offer(folder / "input", 1)
        found = [run(spark, folder, whole=True) for _ in range(RESTARTS)]
        for number, text in enumerate(found, 1):
            print(f"restart {number}: the query {text}")
        for entry in ("offsets/1", "commits/0"):
            path = folder / "checkpoint" / entry
            path.unlink(missing_ok=True)
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
        again = run(spark, folder, whole=True)
        print(f"offsets/1 and commits/0 are deleted by hand: the query {again}")
    spark.stop()
    sys.exit(not (noted and "runs" not in found and again == "runs"))


if __name__ == "__main__":
    main()
