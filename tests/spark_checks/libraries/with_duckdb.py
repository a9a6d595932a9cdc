"""DuckDB in the process of the sink, and in that of the reader."""

from __future__ import annotations

import duckdb

from onceproof.spark_checks.sinks.interface import ForeachBatch
from tests.spark_checks.libraries.files import SCHEMA, rows_of


def sink(target, key, verb):
    path = str(target.path / "t.duckdb")
    with duckdb.connect(path) as db:
        db.execute(f"CREATE TABLE t (id VARCHAR {key}, amount BIGINT)")

    def write(batch, batch_id):
        rows = rows_of(batch)
        with duckdb.connect(path) as db:
            db.begin()
            db.executemany(f"{verb} INTO t VALUES (?, ?)", rows)
            db.commit()
        print(f"batch {batch_id} is written")

    def read(spark):
        with duckdb.connect(path, read_only=True) as db:
            found = db.execute("SELECT id, amount FROM t").fetchall()
        return spark.createDataFrame(found, SCHEMA)

    return ForeachBatch(write, read=read)


def right(target):
    return sink(target, "PRIMARY KEY", "INSERT OR REPLACE")


def wrong(target):
    return sink(target, "", "INSERT")
