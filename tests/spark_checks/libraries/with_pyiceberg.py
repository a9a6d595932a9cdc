"""pyiceberg, with a catalog in SQLite and a pool of threads for its files."""

from __future__ import annotations

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from onceproof.spark_checks.sinks.interface import ForeachBatch
from tests.spark_checks.libraries.files import SCHEMA

COLUMNS = pa.schema([("id", pa.string()), ("amount", pa.int64())])


def catalog(folder):
    return SqlCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}")


def sink(target, *, keyed):
    folder = str(target.path)
    made = catalog(folder)
    made.create_namespace("shop")
    made.create_table("shop.orders", COLUMNS)

    def write(batch, batch_id):
        orders = catalog(folder).load_table("shop.orders")
        done = {
            s.summary.additional_properties.get("batch") for s in orders.snapshots()
        }
        if keyed and str(batch_id) in done:
            return
        rows = [row.asDict() for row in batch.select("id", "amount").collect()]
        new = pa.Table.from_pylist(rows, schema=COLUMNS)
        orders.append(new, snapshot_properties={"batch": str(batch_id)})
        print(f"batch {batch_id} is written")

    def read(spark):
        found = catalog(folder).load_table("shop.orders").scan().to_arrow().to_pylist()
        return spark.createDataFrame([(r["id"], r["amount"]) for r in found], SCHEMA)

    return ForeachBatch(write, read=read)


def right(target):
    return sink(target, keyed=True)


def wrong(target):
    return sink(target, keyed=False)
