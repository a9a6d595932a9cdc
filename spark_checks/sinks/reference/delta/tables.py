"""What the sinks on Delta Lake share: where the table is, and its reader.

The reader is delta-rs, which knows nothing but the files: it reads the table's log anew
each time, and the files of whole commits alone. Spark would read the same, with what
the JVM of the writer has in memory, and by two more jobs: half of a replay's time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from onceproof.spark_checks.sinks.reference.sqlite import COLUMNS, SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Read, Target


def place(target: Target) -> str:
    """Return the path of a table that is not there yet."""
    return f"{target.store.path}/flights"


def reader(path: str) -> Read:
    """Return a reader of what the last commit of the table holds."""

    def read(spark: SparkSession) -> DataFrame:
        return spark.createDataFrame(_rows(path), SCHEMA)

    return read


def _rows(path: str) -> list[Any]:
    """Return the rows of a table, and none before its first commit."""
    try:
        table = DeltaTable(path)
    except TableNotFoundError:
        return []
    found = table.to_pyarrow_table(columns=COLUMNS.split(", "))
    return [tuple(row.values()) for row in found.to_pylist()]
