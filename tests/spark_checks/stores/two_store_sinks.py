"""Sinks on PostgreSQL and on a file of SQLite, as people write them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import psycopg

from onceproof.spark_checks import ForeachBatch

SCHEMA = "id string, amount long"


def _made(target, key):
    url, file = target.store.orders.url, f"{target.store.copy.path}/copy.db"
    with psycopg.connect(url) as db:
        db.execute(f"CREATE TABLE orders (id text {key}, amount bigint)")
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"CREATE TABLE orders (id text {key}, amount bigint)")

    def orders(spark):
        with psycopg.connect(url) as db:
            rows = db.execute("SELECT * FROM orders").fetchall()
        return spark.createDataFrame(rows, SCHEMA)

    def copy(spark):
        with closing(sqlite3.connect(file)) as db:
            rows = db.execute("SELECT * FROM orders").fetchall()
        return spark.createDataFrame(rows, SCHEMA)

    return url, file, {"orders": orders, "copy": copy}


def insert(url, rows):
    with psycopg.connect(url) as db, db.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO orders VALUES (%s, %s) ON CONFLICT DO NOTHING", rows
        )


def copied(file, rows):
    with closing(sqlite3.connect(file)) as db, db:
        db.executemany("INSERT OR IGNORE INTO orders VALUES (?, ?)", rows)


def by_key(target, *, key="PRIMARY KEY"):
    """Both tables have a key, so it is right."""
    url, file, read = _made(target, key)

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        insert(url, rows)
        copied(file, rows)

    return ForeachBatch(write, read=read)


def without_key(target):
    """It is the dual write."""
    return by_key(target, key="")


def skips(target):
    """It does not write the copy of orders that are there."""
    url, file, read = _made(target, "PRIMARY KEY")

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        with psycopg.connect(url) as db:
            there = {i for (i,) in db.execute("SELECT id FROM orders")}
        new = [row for row in rows if row[0] not in there]
        insert(url, new)
        copied(file, new)

    return ForeachBatch(write, read=read)


def commit(url, rows, batch_id):
    with psycopg.connect(url) as db, db.cursor() as cursor:
        cursor.executemany("INSERT INTO orders VALUES (%s, %s)", rows)
        cursor.execute("INSERT INTO done VALUES (%s)", (batch_id,))


def looks_up_once(target):
    """No crash shows what is wrong: it commits again where the reply is lost."""
    url, file, read = _made(target, "")
    with psycopg.connect(url) as db:
        db.execute("CREATE TABLE done (batch bigint)")
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE UNIQUE INDEX key ON orders (id)")

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        with psycopg.connect(url) as db:
            known = db.execute("SELECT 1 FROM done WHERE batch = %s", (batch_id,))
            done = known.fetchone()
        if not done:
            try:
                commit(url, rows, batch_id)
            except psycopg.OperationalError:
                commit(url, rows, batch_id)
        copied(file, rows)

    return ForeachBatch(write, read=read)
