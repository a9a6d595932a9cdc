"""Session windows: events of a key that follow each other within five seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from onceproof.spark_checks.queries.events import DELAY
from onceproof.spark_checks.queries.query_spec import QuerySpec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_GAP = 5


def closing_time(second: int) -> int:
    """Return when a session ends that this second is the last of."""
    return second + _GAP


def sessions(events: DataFrame) -> DataFrame:
    """Sum the amounts of each session."""
    window = F.session_window("at", f"{_GAP} seconds")
    return (
        events.withWatermark("at", f"{DELAY} seconds")
        .groupBy(window, "key")
        .agg(F.sum("amount").alias("total"))
        .select(
            F.col("session_window.start").alias("begin"),
            F.col("session_window.end").alias("end"),
            "key",
            "total",
        )
    )


QUERIES = (
    QuerySpec("session-append", sessions, key=("begin", "key"), closes=closing_time),
)
