"""Shows that a repeated batch draws other random numbers. Needs PySpark alone.

A callback of foreachBatch splits a batch by a random column with a fixed seed, and
writes each part to a folder of its own, under the id of the batch. It leaves out a part
that is there. It fails once between the two writes, as a driver does that dies there,
and the query is started again. Each event should be in one of the parts.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

EVENTS = 1000


def run(spark: SparkSession, folder: Path, *, fails: bool) -> None:
    """Read all events and split them; fail between the two writes if asked to."""
    parts = folder / "parts"

    def split(batch: Any, number: int) -> None:
        for name, rows in (
            ("sample", batch.where("draw < 0.5")),
            ("rest", batch.where("draw >= 0.5")),
        ):
            place = parts / name / str(number)
            if name == "rest" and fails:
                message = "the driver dies between the two writes"
                raise RuntimeError(message)
            if not (place / "_SUCCESS").exists():
                rows.write.mode("overwrite").parquet(str(place))

    events: Any = spark.readStream.schema("id long").json(str(folder / "input"))
    drawn = events.withColumn("draw", F.rand(seed=42))
    writer = drawn.writeStream.foreachBatch(split).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    try:
        query.awaitTermination()
    except Exception:
        if not fails:
            raise


def main() -> None:
    """Split the events without a failure, and with one."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    print(f"PySpark {pyspark.__version__}")
    wrong = []
    for fails in (False, True):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            (folder / "input").mkdir()
            lines = [json.dumps({"id": number}) for number in range(EVENTS)]
            (folder / "input" / "0.json").write_text("\n".join(lines))
            if fails:
                run(spark, folder, fails=True)
            run(spark, folder, fails=False)
            read = [
                {row.id for row in spark.read.parquet(str(part)).collect()}
                for part in ((folder / "parts" / n / "0") for n in ("sample", "rest"))
            ]
        missing, twice = EVENTS - len(read[0] | read[1]), len(read[0] & read[1])
        wrong.append(missing + twice)
        name = "a failure between the writes" if fails else "no failure"
        what = f"some of {EVENTS} events" if wrong[-1] else f"none of {EVENTS} events"
        print(f"{name}: {what} is in no part or in both ({missing} and {twice})")
    spark.stop()
    sys.exit(not (wrong[0] == 0 and wrong[1]))


if __name__ == "__main__":
    main()
