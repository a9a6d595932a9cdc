"""What the sinks by delta-rs share: where the table is, how it is written and read.

The reader is delta-rs too: it reads the table's log anew each time, and the files of
whole commits alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from onceproof.spark_checks.sinks.reference.sqlite import COLUMNS, SCHEMA

if TYPE_CHECKING:
    from deltalake import CommitProperties
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Read, Target

_TYPES = {"distance": pa.int64(), "late": pa.bool_()}
_SCHEMA = pa.schema(
    [(name, _TYPES.get(name, pa.string())) for name in COLUMNS.split(", ")]
)


def create(target: Target) -> str:
    """Make an empty table of flights; return its path."""
    path = f"{target.store.path}/flights"
    DeltaTable.create(path, _SCHEMA)
    return path


def append(
    path: str, batch: DataFrame, properties: CommitProperties | None = None
) -> None:
    """Append the rows of a batch in one commit, with its properties."""
    rows = pa.Table.from_pandas(batch.toPandas(), schema=_SCHEMA)
    write_deltalake(path, rows, mode="append", commit_properties=properties)


def reader(path: str) -> Read:
    """Return a reader of what the last commit of the table holds."""

    def read(spark: SparkSession) -> DataFrame:
        found = DeltaTable(path).to_pyarrow_table(columns=COLUMNS.split(", "))
        rows: list[Any] = [tuple(row.values()) for row in found.to_pylist()]
        return spark.createDataFrame(rows, SCHEMA)

    return read
