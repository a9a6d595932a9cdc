"""What the sinks by pyiceberg share: the catalog, the table, and its reader.

The catalog is a database of SQLite. A commit is one transaction of it, which names the
table's new metadata: a reader sees the files of whole commits alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from onceproof.spark_checks.sinks.reference.sqlite import COLUMNS, SCHEMA

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Read, Target

NAME = "flights.flights"
BATCH = "batch"
"""The property of a snapshot that has the batch's id."""
_TYPES = {"distance": pa.int64(), "late": pa.bool_()}
_SCHEMA = pa.schema(
    [(name, _TYPES.get(name, pa.string())) for name in COLUMNS.split(", ")]
)


def create(target: Target) -> str:
    """Make a catalog with an empty table of flights; return its folder."""
    folder = str(target.store.path)
    catalog = _catalog(folder)
    catalog.create_namespace("flights")
    catalog.create_table(NAME, _SCHEMA)
    return folder


def load(folder: str) -> Table:
    """Return the table as it is now."""
    return _catalog(folder).load_table(NAME)


def append(table: Table, batch: DataFrame, batch_id: int) -> None:
    """Append the rows of a batch in one snapshot, which has the batch's id."""
    rows = pa.Table.from_pandas(batch.toPandas(), schema=_SCHEMA)
    table.append(rows, snapshot_properties={BATCH: str(batch_id)})


def reader(folder: str) -> Read:
    """Return a reader of the last snapshot."""

    def read(spark: SparkSession) -> DataFrame:
        found = load(folder).scan().to_arrow().to_pylist()
        names = COLUMNS.split(", ")
        rows: list[Any] = [tuple(row[name] for name in names) for row in found]
        return spark.createDataFrame(rows, SCHEMA)

    return read


def _catalog(folder: str) -> SqlCatalog:
    uri, files = f"sqlite:///{folder}/catalog.db", f"file://{folder}"
    return SqlCatalog("onceproof", uri=uri, warehouse=files)
