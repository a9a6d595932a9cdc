"""What the sinks on Iceberg share: the table of flights, and its reader.

Spark reads it, by the last snapshot of the table: a reader sees the files of whole
commits alone. The catalog keeps no tables in memory, so a reader is never behind what
is committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from onceproof.spark_checks.sinks.reference.sqlite import SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from onceproof.spark_checks.sinks.interface import Read, Target


def create(target: Target) -> str:
    """Make an empty table of flights; return its name."""
    table = f"{target.store.namespace}.flights"
    spark = SparkSession.builder.getOrCreate()
    spark.sql(f"CREATE TABLE {table} ({SCHEMA}) USING iceberg")
    return table


def reader(table: str) -> Read:
    """Return a reader of the last snapshot of a table."""

    def read(spark: SparkSession) -> DataFrame:
        return spark.read.table(table)

    return read
