"""Shows what Python workers do with PySpark's archives before each task.

It needs PySpark alone. A worker runs tasks that do nothing. Each notes which archives
Python had to forget since the task before, and how long that took.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any
from zipimport import zipimporter

import pyarrow as pa
import pyspark
from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from collections.abc import Iterator

TASKS = 8


def notes(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield what was forgotten since the task before in this worker, and go on."""
    kind: Any = zipimporter
    if not hasattr(kind, "noted"):
        kind.noted, plain = [], kind.invalidate_caches

        def forget(self: Any) -> None:
            began = time.perf_counter()
            plain(self)
            name = self.archive.rpartition("/")[2]
            kind.noted.append((name, time.perf_counter() - began))

        kind.invalidate_caches = forget
    for _ in batches:
        pass
    names = [name for name, _ in kind.noted]
    seconds = [seconds for _, seconds in kind.noted]
    kind.noted.clear()
    yield pa.RecordBatch.from_pydict({"name": names, "seconds": seconds})


def main() -> None:
    """Print which archives are forgotten, and how long that takes."""
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    print(f"PySpark {pyspark.__version__}, Python {sys.version.split()[0]}", flush=True)
    tasks = spark.range(0, TASKS, 1, TASKS)
    rows = tasks.mapInArrow(notes, "name string, seconds double").collect()
    names = sorted({row.name.partition("-")[0] for row in rows}) or ["none"]
    print(f"forgotten before tasks that do nothing: {', '.join(names)}")
    spent = sum(row.seconds for row in rows) / (TASKS - 1)
    print(f"this takes {1000 * spent:.0f} ms for each task")
    spark.stop()


if __name__ == "__main__":
    main()
