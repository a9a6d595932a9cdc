"""What the sinks of the page share: orders in a SQLite table, and its reader."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

ORDERS = "order_id string, customer string, amount long"
TABLE = "CREATE TABLE orders (order_id TEXT, customer TEXT, amount INTEGER)"
KEYED = "CREATE TABLE orders (order_id TEXT PRIMARY KEY, customer TEXT, amount INTEGER)"
TOTALS = "CREATE TABLE totals (customer TEXT PRIMARY KEY, amount INTEGER)"
LEDGER = "CREATE TABLE done (batch_id INTEGER PRIMARY KEY)"
INSERT = "INSERT INTO orders VALUES (?, ?, ?)"
UPSERT = "INSERT OR REPLACE INTO orders VALUES (?, ?, ?)"
ADD = """
    INSERT INTO totals VALUES (?, ?)
    ON CONFLICT (customer) DO UPDATE SET amount = amount + excluded.amount
"""


def open_table(database):
    """Open a database; a second writer waits for the first for five seconds."""
    return closing(sqlite3.connect(database))


def open_by_row(database):
    """Open a database in which each statement is a transaction of its own."""
    return closing(sqlite3.connect(database, isolation_level=None))


def create(target, *statements):
    """Make an empty database, with these tables."""
    database = str(target.path / "orders.db")
    with open_table(database) as db, db:
        for statement in statements:
            db.execute(statement)
    return database


def read_table(database, query="SELECT order_id, customer, amount FROM orders"):
    """Give a reader of the committed rows."""

    def read(spark):
        with open_table(database) as db:
            rows = db.execute(query).fetchall()
        return spark.createDataFrame(rows, ORDERS)

    return read


def read_lines(files):
    """Give a reader of files that hold an order a line, as JSON."""

    def read(spark):
        texts = [Path(file).read_text() for file in files()]
        lines = [json.loads(line) for text in texts for line in text.splitlines()]
        return spark.createDataFrame(lines, ORDERS)

    return read
