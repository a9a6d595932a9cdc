"""Joins of two streams within five seconds: inner, and outer on the left."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from onceproof.spark_checks.queries.events import DELAY
from onceproof.spark_checks.queries.query_spec import QuerySpec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_APART = 5


def _side(events: DataFrame, name: str) -> DataFrame:
    with_watermark = events.withWatermark("at", f"{DELAY} seconds")
    return with_watermark.select(
        F.col("id").alias(f"{name}_id"),
        F.col("key").alias(f"{name}_key"),
        F.col("at").alias(f"{name}_at"),
    )


def joined(left: DataFrame, right: DataFrame, how: str) -> DataFrame:
    """Join events of one key that are at most five seconds apart."""
    near = F.expr(
        "left_key = right_key"
        f" and right_at >= left_at - interval {_APART} seconds"
        f" and right_at <= left_at + interval {_APART} seconds"
    )
    found = _side(left, "left").join(_side(right, "right"), near, how)
    if how == "left_semi":
        return found.select(F.col("left_key").alias("key"), "left_id")
    key = F.coalesce("left_key", "right_key").alias("key")
    return found.select(key, "left_id", "right_id")


_KEY = ("left_id", "right_id")
QUERIES = (
    QuerySpec("join-inner", partial(joined, how="inner"), key=_KEY, inputs=2),
    QuerySpec("join-left", partial(joined, how="left_outer"), key=_KEY, inputs=2),
    QuerySpec("join-full", partial(joined, how="full_outer"), key=_KEY, inputs=2),
    QuerySpec(
        "join-semi", partial(joined, how="left_semi"), key=("left_id",), inputs=2
    ),
)
