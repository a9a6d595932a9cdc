"""What the sinks share that keep a log of numbered entries on S3, as table formats do.

An entry has a batch's id and its rows. It is put under the next number on the condition
that no entry has it yet, so of two writers one gets it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from onceproof.spark_checks.sinks.reference.sqlite import SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from onceproof.spark_checks.sinks.interface import Read
    from onceproof.spark_checks.stores.s3.place import S3Place

_LOG = "log"
_TAKEN = 412


class LogEntry(NamedTuple):
    """An entry of the log."""

    batch_id: int
    """The id of its batch."""
    rows: list[list[Any]]
    """The rows of its batch."""


class NumberTaken(Exception):  # noqa: N818 - it names what happened
    """There is an entry of that number."""


def entries(place: S3Place) -> list[LogEntry]:
    """Return the entries, by their numbers."""
    client = place.client()
    bodies = [
        client.get_object(Bucket=place.bucket, Key=key)["Body"].read()
        for key in sorted(place.keys(_LOG))
    ]
    return [LogEntry(*json.loads(body)) for body in bodies]


def put_entry(place: S3Place, number: int, batch_id: int, rows: list[Row]) -> None:
    """Put an entry under a number. Raises ``NumberTaken`` where there is one.

    The client tries again by itself where a connection breaks.
    """
    from botocore.exceptions import ClientError  # noqa: PLC0415 - an extra

    try:
        place.client().put_object(
            Bucket=place.bucket,
            Key=place.key(f"{_LOG}/{number:08}.json"),
            Body=json.dumps([batch_id, rows]).encode(),
            IfNoneMatch="*",
        )
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] != _TAKEN:
            raise
        raise NumberTaken(number) from None


def reader(place: S3Place) -> Read:
    """Return a reader of the rows of all entries."""

    def read(spark: SparkSession) -> DataFrame:
        rows = [tuple(row) for entry in entries(place) for row in entry.rows]
        return spark.createDataFrame(rows, SCHEMA)

    return read
