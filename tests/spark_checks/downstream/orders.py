"""Where a shop's orders go: one sink that is right, and three that are not."""

from __future__ import annotations

import json
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamWriter,
    WriterCommitMessage,
)

from onceproof.spark_checks import Foreach, ForeachBatch, Format

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, Row, SparkSession

    from onceproof.spark_checks import Target

SCHEMA = "order_id string, amount long"


def upsert(target: Target) -> ForeachBatch:
    """Right: an order that comes again takes its own place."""
    path = str(target.path / "orders.db")
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE orders (order_id TEXT PRIMARY KEY, amount INTEGER)")

    def write(batch: DataFrame, batch_id: int) -> None:
        del batch_id
        rows = [tuple(row) for row in batch.collect()]
        with closing(sqlite3.connect(path, timeout=30)) as db, db:
            db.executemany("INSERT OR REPLACE INTO orders VALUES (?, ?)", rows)

    def read(spark: SparkSession) -> DataFrame:
        with closing(sqlite3.connect(path)) as db:
            rows = db.execute("SELECT order_id, amount FROM orders").fetchall()
        return spark.createDataFrame(rows, SCHEMA)

    return ForeachBatch(write, read=read)


def append(target: Target) -> ForeachBatch:
    """Wrong: what was written before the crash is written again."""
    path = str(target.path / "orders")

    def write(batch: DataFrame, batch_id: int) -> None:
        del batch_id
        batch.write.mode("append").parquet(path)

    return ForeachBatch(write, read=path)


def from_files(folder: Path, pattern: str) -> Callable[[SparkSession], DataFrame]:
    """Read every order in files of JSON."""

    def read(spark: SparkSession) -> DataFrame:
        found = [json.loads(f.read_text()) for f in sorted(folder.glob(pattern))]
        rows = [(row["order_id"], row["amount"]) for rows in found for row in rows]
        return spark.createDataFrame(rows, SCHEMA)

    return read


def each_order(target: Target) -> Foreach:
    """Wrong: a task that is tried again writes its orders under new names."""
    folder = target.path

    def put(row: Row) -> None:
        file = folder / f"{uuid.uuid4().hex}.json"
        file.write_text(json.dumps([row.asDict()]))

    return Foreach(put, read=from_files(folder, "*.json"))


class Part(WriterCommitMessage):
    """The orders of one task."""

    def __init__(self, rows: list[dict[str, object]]) -> None:
        """Carry them to the driver."""
        self.rows = rows


class Writer(DataSourceStreamWriter):
    """Adds a batch to the list of orders, and does not look whether it is there."""

    def __init__(self, folder: str) -> None:
        """Write below ``folder``."""
        self.folder = Path(folder)

    def write(self, iterator: Iterator[Row]) -> Part:  # type: ignore[override]
        """Hand the orders on."""
        return Part([row.asDict() for row in iterator])

    def commit(self, messages: list[Part], batchId: int) -> None:  # type: ignore[override]  # noqa: N803
        """Write a file of a new name."""
        rows = [row for message in messages for row in message.rows]
        draft = self.folder / "draft"
        draft.write_text(json.dumps(rows))
        draft.replace(self.folder / f"{uuid.uuid4().hex}.json")


class Orders(DataSource):
    """The format ``orders`` with the option ``folder``."""

    @classmethod
    def name(cls) -> str:
        """Name the format."""
        return "orders"

    def streamWriter(self, schema: object, overwrite: bool) -> Writer:  # type: ignore[override]  # noqa: N802
        """Make the writer."""
        return Writer(self.options["folder"])


def own_format(target: Target) -> Format:
    """Wrong: see ``Writer``."""
    options = {"folder": str(target.path)}
    return Format(Orders, options, read=from_files(target.path, "*.json"))
