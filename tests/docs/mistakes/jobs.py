"""Mistakes in jobs that a scheduler runs again where they died."""

from __future__ import annotations

from onceproof.spark_checks.sinks.interface import BatchJob
from tests.docs.mistakes.mistake import Mistake
from tests.docs.mistakes.table import ORDERS


def job_appends(target):
    path = str(target.path / "orders")

    def run(events):
        events.write.mode("append").parquet(path)

    return BatchJob(run, read=path)


def job_appends_what_is_missing(target):
    path = str(target.path / "orders")

    def run(events):
        spark = events.sparkSession
        spark.createDataFrame([], ORDERS).write.mode("append").parquet(path)
        there = spark.read.parquet(path)
        new = events.join(there, "order_id", "left_anti")
        new.write.mode("append").parquet(path)

    return BatchJob(run, read=path)


MISTAKES = (
    Mistake(
        "Append in a job that is run again after it died",
        wrong=(job_appends,),
        fixed=(job_appends_what_is_missing,),
        fix="Append only missing rows, to a table that no other job writes to.",
    ),
)
