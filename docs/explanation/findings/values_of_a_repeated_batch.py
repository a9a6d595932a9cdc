"""Shows which values a repeated batch has anew. Needs PySpark alone.

A query adds a value to an event. Once it rests, the last entry of ``commits`` is
deleted: that is what a driver leaves that dies after the callback. The query is started
again two seconds later, and the callback compares the value of the repeated batch. At
last the restart has another session time zone, as on a machine of another region.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

ZONE = "spark.sql.session.timeZone"
VALUES = (
    ("current_timestamp()", "UTC", True),
    ("localtimestamp()", "UTC", True),
    ("now()", "UTC", False),
    ("uuid()", "UTC", False),
    ("to_date(at)", "UTC", True),
    ("to_date(at)", "Asia/Tokyo", False),
)


def run(spark: SparkSession, folder: Path, value: str, zone: str) -> str:
    """Run the query on what is not noted as done; return the value of its event."""
    shown: list[str] = []

    def look(batch: Any, _: int) -> None:
        shown.extend(str(row.value) for row in batch.collect())

    spark.conf.set(ZONE, zone)
    events: Any = spark.readStream.schema("at timestamp").json(str(folder / "input"))
    writer = events.selectExpr(f"CAST({value} AS STRING) AS value").writeStream
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer = writer.foreachBatch(look).trigger(availableNow=True)
    writer.start().awaitTermination()
    return shown[0]


def main() -> None:
    """Repeat a batch for each value."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    print(f"PySpark {pyspark.__version__}")
    expected = True
    for value, zone, same in VALUES:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            (folder / "input").mkdir()
            event = json.dumps({"at": "2026-01-01T23:30:00Z"}) + "\n"
            (folder / "input" / "0.json").write_text(event)
            first = run(spark, folder, value, "UTC")
            commits = folder / "checkpoint" / "commits"
            (commits / "0").unlink()
            (commits / ".0.crc").unlink(missing_ok=True)
            time.sleep(2)
            again = run(spark, folder, value, zone)
        what = "the same" if first == again else "another"
        print(f"{value}, restarted with {zone}: {what} value in the repeated batch")
        expected &= (first == again) == same
    spark.stop()
    sys.exit(not expected)


if __name__ == "__main__":
    main()
