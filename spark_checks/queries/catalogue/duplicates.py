"""Events without their duplicates: for ever, or within the watermark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks.queries.events import DELAY
from onceproof.spark_checks.queries.query_spec import QuerySpec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEY = ("key", "amount")


def distinct(events: DataFrame) -> DataFrame:
    """Keep one event of each key and amount, for ever."""
    return events.select(*KEY).dropDuplicates(list(KEY))


def distinct_by_time(events: DataFrame) -> DataFrame:
    """Keep one event of each key, amount and time; the watermark ends the state."""
    with_watermark = events.withWatermark("at", f"{DELAY} seconds")
    return with_watermark.select(*KEY, "at").dropDuplicates([*KEY, "at"])


def distinct_within(events: DataFrame) -> DataFrame:
    """Keep one event of each key and amount within the delay of the watermark."""
    with_watermark = events.withWatermark("at", f"{DELAY} seconds")
    found = with_watermark.dropDuplicatesWithinWatermark(list(KEY))
    return found.select(*KEY)


QUERIES = (
    QuerySpec("distinct", distinct, key=KEY, watermarked=False),
    QuerySpec("distinct-by-time", distinct_by_time, key=(*KEY, "at")),
    QuerySpec("distinct-within-watermark", distinct_within, key=KEY, batch=distinct),
)
