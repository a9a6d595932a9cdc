"""Two operators with state in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from onceproof.spark_checks.queries.catalogue.windows import closing_time
from onceproof.spark_checks.queries.events import DELAY
from onceproof.spark_checks.queries.query_spec import QuerySpec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def window_of_windows(events: DataFrame) -> DataFrame:
    """Sum in windows of ten seconds, and those in windows of twenty."""
    inner = (
        events.withWatermark("at", f"{DELAY} seconds")
        .groupBy(F.window("at", "10 seconds"), "key")
        .agg(F.sum("amount").alias("total"))
    )
    outer = inner.groupBy(F.window(F.window_time("window"), "20 seconds"), "key")
    summed = outer.agg(F.sum("total").alias("total"))
    return summed.select(F.col("window.start").alias("begin"), "key", "total")


def distinct_then_window(events: DataFrame) -> DataFrame:
    """Drop duplicates, then sum in windows."""
    distinct = events.withWatermark("at", f"{DELAY} seconds").dropDuplicates(
        ["key", "amount", "at"]
    )
    summed = distinct.groupBy(F.window("at", "10 seconds"), "key").agg(
        F.sum("amount").alias("total")
    )
    return summed.select(F.col("window.start").alias("begin"), "key", "total")


QUERIES = (
    QuerySpec(
        "window-of-windows",
        window_of_windows,
        key=("begin", "key"),
        closes=closing_time,
    ),
    QuerySpec("distinct-then-window", distinct_then_window, key=("begin", "key")),
)
