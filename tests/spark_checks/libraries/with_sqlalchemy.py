"""An engine with a pool, made at the top of the module or as the sink is built."""

from __future__ import annotations

import os

from sqlalchemy import create_engine, text

from onceproof.spark_checks.sinks.interface import ForeachBatch
from tests.spark_checks.libraries.files import SCHEMA, rows_of

ENGINE = create_engine(os.environ.get("ORDERS_DATABASE", "sqlite://"))


def sink(engine, name, key, put):
    with engine.begin() as db:
        db.execute(text(f"CREATE TABLE {name} (id VARCHAR(20) {key}, amount INT)"))

    def write(batch, batch_id):
        rows = [{"i": i, "a": a} for i, a in rows_of(batch)]
        with engine.begin() as db:
            db.execute(text(put.format(name)), rows)
        print(f"batch {batch_id} is written")

    def read(spark):
        with engine.connect() as db:
            found = [tuple(r) for r in db.execute(text(f"SELECT * FROM {name}"))]
        return spark.createDataFrame(found, SCHEMA)

    return ForeachBatch(write, read=read)


INSERT = "INSERT INTO {} VALUES (:i, :a)"
UPSERT = INSERT + " ON CONFLICT (id) DO UPDATE SET amount = excluded.amount"


def right(target):
    return sink(ENGINE, target.name, "PRIMARY KEY", UPSERT)


def wrong(target):
    return sink(ENGINE, target.name, "", INSERT)


def right_of_its_own(target):
    """Its engine is made for the target, and has a connection in its pool."""
    engine = create_engine(f"sqlite:///{target.path}/own.db")
    return sink(engine, "orders", "PRIMARY KEY", UPSERT)
