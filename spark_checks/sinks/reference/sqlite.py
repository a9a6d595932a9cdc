"""What the SQLite sinks share: a connection, the table, and its reader."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession

    from onceproof.spark_checks.sinks.interface import Read

COLUMNS = "flight_id, carrier, origin, dest, distance, late"
SCHEMA = (
    "flight_id string, carrier string, origin string, dest string, "
    "distance long, late boolean"
)


def connect(path: Path | str) -> sqlite3.Connection:
    """Open the database; a statement outside BEGIN is a transaction of its own."""
    return sqlite3.connect(path, isolation_level=None, timeout=30)


def create(path: Path, *, unique: bool = False, ledger: str = "") -> str:
    """Make an empty database with the table of flights, and a ledger's columns."""
    database = path / "sink.db"
    key = "PRIMARY KEY" if unique else ""
    with closing(connect(database)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(
            f"CREATE TABLE flights (flight_id TEXT {key}, carrier, origin, dest, "
            "distance INTEGER, late INTEGER)"
        )
        if ledger:
            db.execute(f"CREATE TABLE ledger ({ledger})")
    return str(database)


def insert(
    db: sqlite3.Connection, rows: Iterable[Row], *, verb: str = "INSERT"
) -> None:
    """Write rows in the transaction that is open."""
    db.executemany(
        f"{verb} INTO flights ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
        [tuple(row) for row in rows],
    )


def reader(database: str) -> Read:
    """Return a reader of the committed rows."""

    def read(spark: SparkSession) -> DataFrame:
        with closing(connect(database)) as db:
            found = db.execute(f"SELECT {COLUMNS} FROM flights").fetchall()
        rows: list[Any] = [(*row[:5], bool(row[5])) for row in found]
        return spark.createDataFrame(rows, SCHEMA)

    return read
