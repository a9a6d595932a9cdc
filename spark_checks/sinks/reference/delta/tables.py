"""What the sinks on Delta Lake share: where the table is, and its reader.

Spark reads it, by the table's log: a reader sees the files of whole commits alone. The
session looks at the log each time, so a reader is never behind what is committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Read, Target


def place(target: Target) -> str:
    """Return the path of a table that is not there yet."""
    return f"{target.store.path}/flights"


def reader(path: str) -> Read:
    """Return a reader of what the last commit of the table holds."""

    def read(spark: SparkSession) -> DataFrame:
        return spark.read.format("delta").load(path)

    return read
