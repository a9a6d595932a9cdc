"""polars, which has threads from the moment it is imported."""

from __future__ import annotations

import uuid
from pathlib import Path

import polars as pl

from onceproof.spark_checks.sinks.interface import ForeachBatch
from tests.spark_checks.libraries.files import SCHEMA, rows_of


def put(folder, name, rows):
    frame = pl.DataFrame(
        rows, schema={"id": pl.String, "amount": pl.Int64}, orient="row"
    )
    draft = Path(folder, f"{uuid.uuid4().hex}.draft")
    frame.lazy().sort("id").collect().write_parquet(draft)
    draft.replace(Path(folder, f"{name}.parquet"))


def sink(target, name):
    folder = str(target.path)

    def write(batch, batch_id):
        put(folder, name(batch_id), rows_of(batch))
        print(f"batch {batch_id} is written")

    def read(spark):
        there = sorted(Path(folder).glob("*.parquet"))
        rows = pl.scan_parquet(there).collect().rows() if there else []
        return spark.createDataFrame(rows, SCHEMA)

    return ForeachBatch(write, read=read)


def right(target):
    return sink(target, str)


def wrong(target):
    return sink(target, lambda _: uuid.uuid4().hex)
