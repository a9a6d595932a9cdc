"""State of a user's own, by applyInPandasWithState."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from onceproof.spark_checks.queries.query_spec import OutputMode, QuerySpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame


def running(events: DataFrame) -> DataFrame:
    """Sum the amounts of each key by applyInPandasWithState."""

    def add(key: Any, parts: Iterator[Any], state: Any) -> Iterator[Any]:
        total = state.get[0] if state.exists else 0
        total += sum(int(part["amount"].sum()) for part in parts)
        state.update((total,))
        yield pd.DataFrame({"key": [key[0]], "total": [total]})

    grouped: Any = events.groupBy("key")
    found: DataFrame = grouped.applyInPandasWithState(
        add, "key string, total long", "total long", "update", "NoTimeout"
    )
    return found


def totals(events: DataFrame) -> DataFrame:
    """Sum the amounts of each key as a batch query does."""
    return events.groupBy("key").agg(F.sum("amount").alias("total"))


QUERIES = (
    QuerySpec(
        "apply-with-state",
        running,
        OutputMode.UPDATE,
        ("key",),
        watermarked=False,
        batch=totals,
    ),
)
