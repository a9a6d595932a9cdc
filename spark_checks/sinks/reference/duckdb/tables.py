"""What the sinks on DuckDB share: the table of flights, how it is written and read.

DuckDB reads it: a file that one process has open to write is not for others to read, so
a reader opens it when no process of the sink has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb

from onceproof.spark_checks.sinks.reference.sqlite import COLUMNS, SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Read, Target


def create(target: Target, *, unique: bool = False) -> str:
    """Make a database with the table of flights; return its path."""
    path = f"{target.store.path}/flights.duckdb"
    key = "PRIMARY KEY" if unique else ""
    with duckdb.connect(path) as db:
        db.execute(
            f"CREATE TABLE flights (flight_id VARCHAR {key}, carrier VARCHAR, "
            "origin VARCHAR, dest VARCHAR, distance BIGINT, late BOOLEAN)"
        )
    return path


def write(path: str, batch: DataFrame, *, verb: str = "INSERT") -> None:
    """Write the rows of a batch in one transaction."""
    rows = batch.toPandas()
    with duckdb.connect(path) as db:
        db.register("batch", rows)
        db.execute(f"{verb} INTO flights SELECT {COLUMNS} FROM batch")


def reader(path: str) -> Read:
    """Return a reader of the committed rows."""

    def read(spark: SparkSession) -> DataFrame:
        with duckdb.connect(path, read_only=True) as db:
            rows: list[Any] = db.execute(f"SELECT {COLUMNS} FROM flights").fetchall()
        return spark.createDataFrame(rows, SCHEMA)

    return read
