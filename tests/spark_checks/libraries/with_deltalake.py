"""delta-rs, which has threads of its own once it has been used."""

from __future__ import annotations

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from onceproof.spark_checks.sinks.interface import ForeachBatch
from tests.spark_checks.libraries.files import SCHEMA

COLUMNS = pa.schema([("id", pa.string()), ("amount", pa.int64())])


def table(batch):
    rows = batch.collect()
    values = {"id": [r.id for r in rows], "amount": [r.amount for r in rows]}
    return pa.table(values, schema=COLUMNS)


def reader(path):
    def read(spark):
        found = DeltaTable(path).to_pyarrow_table().to_pylist()
        return spark.createDataFrame([(r["id"], r["amount"]) for r in found], SCHEMA)

    return read


def right(target):
    """Commits the batch's number with its rows."""
    path = str(target.path / "t")
    DeltaTable.create(path, COLUMNS)

    def write(batch, batch_id):
        last = DeltaTable(path).transaction_version("orders")
        if last is None or last < batch_id:
            done = CommitProperties(app_transactions=[Transaction("orders", batch_id)])
            write_deltalake(path, table(batch), mode="append", commit_properties=done)

    return ForeachBatch(write, read=reader(path))


def wrong(target):
    path = str(target.path / "t")
    DeltaTable.create(path, COLUMNS)

    def write(batch, batch_id):
        write_deltalake(path, table(batch), mode="append")
        print(f"batch {batch_id} is written")

    return ForeachBatch(write, read=reader(path))
