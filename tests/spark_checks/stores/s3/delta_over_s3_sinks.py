"""Sinks that write to Delta on S3 by delta-rs, from Python, as people write them."""

from __future__ import annotations

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import DeltaError

from onceproof.spark_checks import ForeachBatch

SCHEMA = "id string, amount long"


def reader(place):
    """Read the table; before its first commit there is none."""

    def read(spark):
        options = place.storage_options
        if not DeltaTable.is_deltatable(f"{place.url}/d", storage_options=options):
            return spark.createDataFrame([], SCHEMA)
        table = DeltaTable(f"{place.url}/d", storage_options=options)
        columns = table.to_pyarrow_table(columns=["id", "amount"])
        rows = [tuple(row.values()) for row in columns.to_pylist()]
        return spark.createDataFrame(rows, SCHEMA)

    return read


def rows_of(batch, batch_id):
    """Bring a batch here, with its number in each row."""
    rows = batch.collect()
    return pa.table(
        {
            "id": [row.id for row in rows],
            "amount": [row.amount for row in rows],
            "batch": pa.array([batch_id] * len(rows), pa.int64()),
        }
    )


def looked_up_once(target):
    """It is right but for lost replies: it tries again without a second look."""
    url, options = f"{target.store.url}/d", target.store.storage_options

    def write(batch, batch_id):
        rows = rows_of(batch, batch_id)
        if DeltaTable.is_deltatable(url, storage_options=options):
            table = DeltaTable(url, storage_options=options)
            found = table.to_pyarrow_table(columns=["batch"])
            if batch_id in found["batch"].to_pylist():
                return
        try:
            write_deltalake(url, rows, mode="append", storage_options=options)
        except (OSError, DeltaError):
            write_deltalake(url, rows, mode="append", storage_options=options)

    return ForeachBatch(write, read=reader(target.store))


def in_the_log(target):
    """It is right: the number of the batch is in the same entry of the log."""
    url, options = f"{target.store.url}/d", target.store.storage_options

    def write(batch, batch_id):
        rows = rows_of(batch, batch_id)
        if DeltaTable.is_deltatable(url, storage_options=options):
            table = DeltaTable(url, storage_options=options)
            last = table.transaction_version("orders")
            if last is not None and last >= batch_id:
                return
        mine = CommitProperties(app_transactions=[Transaction("orders", batch_id)])
        write_deltalake(
            url, rows, mode="append", storage_options=options, commit_properties=mine
        )

    return ForeachBatch(write, read=reader(target.store))
