"""A query without state: each event becomes a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from onceproof.spark_checks.queries.query_spec import QuerySpec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def doubled(events: DataFrame) -> DataFrame:
    """Double each amount."""
    return events.select("id", "key", (F.col("amount") * 2).alias("amount"))


QUERIES = (QuerySpec("map", doubled, key=("id",), stateful=False, watermarked=False),)
