"""What the sinks on PostgreSQL share: the table of flights, and its reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec

import psycopg

from onceproof.spark_checks.sinks.reference.sqlite import COLUMNS, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import DataFrame, Row, SparkSession

    from onceproof.spark_checks.sinks.interface import Read, Target

P = ParamSpec("P")
INSERT = f"INSERT INTO flights ({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s)"
UPSERT = f"{INSERT} ON CONFLICT (flight_id) DO NOTHING"


def create(target: Target, *, unique: bool = False, ledger: str = "") -> str:
    """Make the table of flights, and a ledger's columns; return the URL."""
    url = str(target.store.url)
    key = "PRIMARY KEY" if unique else ""
    with psycopg.connect(url) as db:
        db.execute(
            f"CREATE TABLE flights (flight_id text {key}, carrier text, origin text, "
            "dest text, distance bigint, late boolean)"
        )
        if ledger:
            db.execute(f"CREATE TABLE ledger ({ledger})")
    return url


def insert(
    db: psycopg.Connection[Any], rows: Iterable[Row], *, statement: str = INSERT
) -> None:
    """Write rows in the transaction that is open."""
    with db.cursor() as cursor:
        cursor.executemany(statement, [tuple(row) for row in rows])


def again(work: Callable[P, None], *given: P.args, **named: P.kwargs) -> None:
    """Do something; do it once more where a connection breaks."""
    try:
        work(*given, **named)
    except psycopg.OperationalError:
        work(*given, **named)


def reader(url: str) -> Read:
    """Return a reader of the committed rows."""

    def read(spark: SparkSession) -> DataFrame:
        with psycopg.connect(url) as db:
            rows: list[Any] = db.execute(f"SELECT {COLUMNS} FROM flights").fetchall()
        return spark.createDataFrame(rows, SCHEMA)

    return read
