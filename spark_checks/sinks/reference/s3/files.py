"""What the sinks of parquet files on S3 share: the committer, the place, the reader.

The reader lists the prefix and reads each file that is not hidden, as a client does
that knows nothing of Spark.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from pyarrow import parquet

from onceproof.spark_checks.sinks.interface import ForeachBatch
from onceproof.spark_checks.sinks.reference.sqlite import COLUMNS, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Read, Target
    from onceproof.spark_checks.stores.s3.place import S3Place

_TABLE = "flights"


def append_batch(batch: DataFrame, path: str, committer: Mapping[str, str]) -> None:
    """Append the rows of a batch as files, and let a committer publish them."""
    batch.write.mode("append").options(**committer).parquet(path)


def appends(target: Target, committer: Mapping[str, str]) -> ForeachBatch:
    """Return a sink that appends each batch by a committer, of Hadoop's settings."""
    path = f"{target.store.path}/{_TABLE}"

    def write(batch: DataFrame, batch_id: int) -> None:
        append_batch(batch, path, committer)

    return ForeachBatch(write, read=reader(target.store))


def reader(place: S3Place) -> Read:
    """Return a reader of all files of the table that are not hidden."""

    def read(spark: SparkSession) -> DataFrame:
        return spark.createDataFrame(_rows(place), SCHEMA)

    return read


def _rows(place: S3Place) -> list[Any]:
    client, found = place.client(), []
    for key in place.keys(_TABLE):
        body = client.get_object(Bucket=place.bucket, Key=key)["Body"].read()
        table = parquet.read_table(io.BytesIO(body), columns=COLUMNS.split(", "))
        found += [tuple(row.values()) for row in table.to_pylist()]
    return found
