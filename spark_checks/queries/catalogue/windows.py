"""Sums in windows of ten seconds, in each output mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from onceproof.spark_checks.queries.events import DELAY
from onceproof.spark_checks.queries.query_spec import OutputMode, QuerySpec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SPAN = 10
KEY = ("begin", "key")


def closing_time(second: int) -> int:
    """Return the end of the window that a second is in."""
    return (second // SPAN + 1) * SPAN


def sums(events: DataFrame) -> DataFrame:
    """Sum the amounts of each key in each window."""
    window = F.window("at", f"{SPAN} seconds")
    return (
        events.withWatermark("at", f"{DELAY} seconds")
        .groupBy(window, "key")
        .agg(F.sum("amount").alias("total"), F.count("id").alias("n"))
        .select(F.col("window.start").alias("begin"), "key", "total", "n")
    )


def totals(events: DataFrame) -> DataFrame:
    """Sum the amounts of each key, for ever."""
    return events.groupBy("key").agg(F.sum("amount").alias("total"))


QUERIES = (
    QuerySpec("window-append", sums, key=KEY, closes=closing_time),
    QuerySpec("window-update", sums, OutputMode.UPDATE, KEY, closes=closing_time),
    QuerySpec("window-complete", sums, OutputMode.COMPLETE, KEY, watermarked=False),
    QuerySpec("total-update", totals, OutputMode.UPDATE, ("key",), watermarked=False),
    QuerySpec("window-append-two-writes", sums, key=KEY, closes=closing_time, writes=2),
    QuerySpec(
        "total-update-two-writes",
        totals,
        OutputMode.UPDATE,
        ("key",),
        watermarked=False,
        writes=2,
    ),
)
