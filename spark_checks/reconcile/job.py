"""The Spark job: rows of both tables, by key, and then by outcome.

The rows go into one aggregation by key, and its result into a second by outcome. What
comes back is small, and memory does not grow with the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import functions as f

from onceproof.model.errors import UsageError
from onceproof.spark_checks.reconcile import comparable
from onceproof.spark_checks.reconcile.comparable import key_names, sum_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import Column, DataFrame

    from onceproof.spark_checks.reconcile.request import ReconcileRequest

MANY = 2
_BUCKETS = 64
_BY = ("by", "owed", "sources", "alike", "visible", "changed", "known")


def rows_of(source: DataFrame, sink: DataFrame, request: ReconcileRequest) -> DataFrame:
    """Put the rows of both tables into one: key, side, and what is counted.

    Raises ``UsageError`` for what cannot be compared, and for a time that is none.
    """
    ours, theirs = comparable.compared(source, sink, request)
    content = comparable.content(source) if request.repeats else f.lit(0)
    mine = source.select(
        *(column.alias(name) for name, column in ours.items()),
        _true().alias("first"),
        _owed(source, request).alias("owed"),
        _group(request).alias("by"),
        content.cast("long").alias("content"),
    )
    found = sink.select(
        *(column.alias(name) for name, column in theirs.items()),
        f.lit(False).alias("first"),  # noqa: FBT003 - a value of Spark's
        f.lit(None).cast("boolean").alias("owed"),
        _group_of_sink(sink, request).alias("by"),
        f.lit(None).cast("long").alias("content"),
    )
    return mine.unionByName(found)


def _owed(source: DataFrame, request: ReconcileRequest) -> Column:
    """Return whether a row's event is owed; one without a time is."""
    if not request.time:
        return _true()
    kind = comparable.type_of(source, request.time).simpleString()
    quoted = request.until.replace("\\", "\\\\").replace("'", "\\'")
    until = f"try_cast('{quoted}' as {kind})"
    [[readable]] = source.sparkSession.range(1).selectExpr(until).collect()
    if readable is None:
        message = f"until={request.until!r} is no {kind}, as time={request.time!r} is"
        raise UsageError(message)
    return f.coalesce(f.expr(f"({request.time}) <= {until}"), _true())


def _group(request: ReconcileRequest) -> Column:
    column = f.expr(request.by) if request.by else f.lit(None)
    return column.cast("string")


def _group_of_sink(sink: DataFrame, request: ReconcileRequest) -> Column:
    """Return the group of a row in the sink; null where that lacks the columns."""
    column = _group(request)
    try:
        _ = sink.select(column).schema
    except PySparkException:
        return f.lit(None).cast("string")
    return column


def by_key(rows: DataFrame, request: ReconcileRequest) -> DataFrame:
    """Give each key its outcome: a row of ``_BY``, numbers, and ``number``."""
    first, by, content = f.col("first"), f.col("by"), f.col("content")
    sums: list[Column] = []
    for name in sum_names(request):
        sums.append(f.max(f.when(first, f.col(name))).alias(f"{name}_source"))
        sums.append(f.try_sum(f.when(~first, f.col(name))).alias(f"{name}_sink"))
    group = f.coalesce(f.max(f.when(first, by)), f.max(f.when(~first, by)))
    counted = rows.groupBy(*key_names(request)).agg(
        f.count(f.when(first, 1)).alias("rows"),
        f.count(f.when(~first, 1)).alias("visible"),
        f.coalesce(f.max("owed"), ~_true()).alias("owed"),
        f.coalesce(f.min(content) == f.max(content), _true()).alias("alike"),
        (group if request.by else f.lit(None).cast("string")).alias("by"),
        *sums,
    )
    return counted.withColumns(
        {
            "sources": f.least(f.col("rows"), f.lit(MANY)),
            "changed": (f.col("rows") > 0)
            & (f.col("visible") == 1)
            & ~_all(
                f.col(f"{name}_source").eqNullSafe(f.col(f"{name}_sink"))
                for name in sum_names(request)
            ),
            "known": _all(f.col(name).isNotNull() for name in key_names(request)),
            "number": f.xxhash64(*key_names(request)),
        }
    )


def by_outcome(keys: DataFrame, request: ReconcileRequest) -> DataFrame:
    """Count the keys of each outcome; some of their numbers are examples."""
    sides = [f"{n}_{side}" for n in sum_names(request) for side in ("source", "sink")]
    well = (f.col("sources") == 1) & (f.col("visible") == 1)
    well &= f.col("known") & ~f.col("changed")
    bucket = f.when(~well, f.pmod("number", f.lit(_BUCKETS))).alias("bucket")
    return keys.groupBy(*_BY, bucket).agg(
        f.count(f.lit(1)).alias("events"),
        f.sum("rows").alias("rows"),
        f.min("number").alias("number"),
        *(f.try_sum(name).alias(name) for name in sides),
        *(f.count(name).alias(f"{name}_known") for name in sides),
    )


def with_numbers(
    rows: DataFrame, numbers: Iterable[int], request: ReconcileRequest
) -> DataFrame:
    """Give the keys with these numbers their outcomes; the others are only read."""
    names = key_names(request)
    chosen = rows.where(f.xxhash64(*names).isin(*numbers))
    texts = {f"{name}_text": f.col(name).cast("string") for name in names}
    return by_key(chosen, request).withColumns(texts)


def _all(columns: Iterable[Column]) -> Column:
    found = _true()
    for column in columns:
        found &= column
    return found


def _true() -> Column:
    return f.lit(True)  # noqa: FBT003 - a value of Spark's
