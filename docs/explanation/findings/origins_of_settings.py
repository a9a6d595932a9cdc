"""Shows how much of what Hadoop sends to tasks is where each setting was set.

It needs PySpark alone. Hadoop's settings are written as for a task, as they are, and
once what they are kept with has been removed.
"""

from __future__ import annotations

from typing import Any

import pyspark
from pyspark.sql import SparkSession

HADOOP = "org.apache.hadoop"


def size(jvm: Any, settings: Any) -> int:
    """Return how many bytes the settings take for a task."""
    out = getattr(jvm, f"{HADOOP}.io.DataOutputBuffer")()
    settings.write(out)
    return int(out.getLength())


def main() -> None:
    """Print both sizes."""
    spark: Any = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    jvm = spark._jvm  # noqa: SLF001
    settings = spark._jsc.hadoopConfiguration()  # noqa: SLF001
    print(f"PySpark {pyspark.__version__}: {settings.size()} settings", flush=True)
    before = size(jvm, settings)
    kind = getattr(jvm, "java.lang.Class").forName(f"{HADOOP}.conf.Configuration")
    origins = kind.getDeclaredField("updatingResource")
    origins.setAccessible(True)
    origins.set(settings, getattr(jvm, "java.util.concurrent.ConcurrentHashMap")())
    after = size(jvm, settings)
    print(f"as they are: {before:,} bytes; without where they were set: {after:,}")
    print(f"a third or more is where they were set: {before >= 1.5 * after}")
    spark.stop()


if __name__ == "__main__":
    main()
