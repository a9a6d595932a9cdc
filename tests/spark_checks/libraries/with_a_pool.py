"""A pool of threads of one's own at the top of the module, for writing and reading."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

from onceproof.spark_checks.sinks.interface import ForeachBatch
from tests.spark_checks.libraries.files import SCHEMA, all_in, put, rows_of

POOL = ThreadPoolExecutor(2)
STARTED = POOL.submit(int).result()


def sink(target, name):
    folder = str(target.path)

    def write(batch, batch_id):
        rows = POOL.submit(rows_of, batch).result()
        POOL.submit(put, folder, name(batch_id), rows).result()
        print(f"batch {batch_id} is written")

    def read(spark):
        return spark.createDataFrame(POOL.submit(all_in, folder).result(), SCHEMA)

    return ForeachBatch(write, read=read)


def right(target):
    return sink(target, str)


def wrong(target):
    return sink(target, lambda _: uuid.uuid4().hex)
