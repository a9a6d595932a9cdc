"""Sinks on PostgreSQL whose libraries try again, or keep connections, by themselves."""

from __future__ import annotations

import psycopg
import psycopg_pool
import sqlalchemy
import tenacity

from onceproof.spark_checks import ForeachBatch
from tests.spark_checks.stores.postgres.postgres_sinks import (
    INSERT,
    UPSERT,
    reader,
    tables,
)
from tests.spark_checks.stores.retrying_sinks import twice

AGAIN = {
    "retry": tenacity.retry_if_exception_type(psycopg.OperationalError),
    "stop": tenacity.stop_after_attempt(3),
    "wait": tenacity.wait_fixed(0.01),
    "reraise": True,
}
_POOLS: dict[str, object] = {}


def by_tenacity(target, statement, keys=""):
    """Decorate the function that writes, as tenacity's pages show it."""
    url = target.store.url
    tables(url, keys)

    @tenacity.retry(**AGAIN)
    def insert(rows):
        with psycopg.connect(url) as db, db.cursor() as cursor:
            cursor.executemany(statement, rows)

    def write(batch, batch_id):
        insert([tuple(row) for row in batch.collect()])

    return ForeachBatch(write, read=reader(url))


def tenacity_inserts(target):
    return by_tenacity(target, INSERT)


def tenacity_upserts(target):
    return by_tenacity(target, UPSERT, "PRIMARY KEY")


def by_pool(target, statement, keys=""):
    """Take a connection of psycopg's pool, which checks it, and try again once."""
    url = target.store.url
    tables(url, keys)

    def pool():
        if url not in _POOLS:
            check = psycopg_pool.ConnectionPool.check_connection
            made = psycopg_pool.ConnectionPool(
                url, min_size=1, max_size=1, open=True, check=check
            )
            made.wait()
            _POOLS[url] = made
        return _POOLS[url]

    def insert(rows):
        with pool().connection() as db, db.cursor() as cursor:
            cursor.executemany(statement, rows)

    def write(batch, batch_id):
        twice(insert, [tuple(row) for row in batch.collect()])

    return ForeachBatch(write, read=reader(url))


def pool_inserts(target):
    return by_pool(target, INSERT)


def pool_upserts(target):
    return by_pool(target, UPSERT, "PRIMARY KEY")


def by_sqlalchemy(target, statement, keys=""):
    """Take a connection of SQLAlchemy's pool, which looks whether it lives."""
    url = target.store.url
    tables(url, keys)
    engine = sqlalchemy.create_engine(
        url.replace("postgresql://", "postgresql+psycopg://"), pool_pre_ping=True
    )
    text = sqlalchemy.text(statement.replace("%s, %s", ":id, :amount"))

    def insert(rows):
        with engine.begin() as db:
            db.execute(text, rows)

    def write(batch, batch_id):
        rows = [row.asDict() for row in batch.collect()]
        twice(insert, rows, lost=sqlalchemy.exc.OperationalError)

    return ForeachBatch(write, read=reader(url))


def sqlalchemy_inserts(target):
    return by_sqlalchemy(target, INSERT)


def sqlalchemy_upserts(target):
    return by_sqlalchemy(target, UPSERT, "PRIMARY KEY")
