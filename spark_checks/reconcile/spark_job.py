"""The Spark job: rows of both tables, by key, and then by outcome.

The rows go into one aggregation by key, and its result into a second by outcome. What
comes back is small, and memory does not grow with the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql import types as kinds

from onceproof.model.errors import UsageError
from onceproof.spark_checks.reconcile import comparable
from onceproof.spark_checks.reconcile.comparable import key_names, sum_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import Column, DataFrame

    from onceproof.spark_checks.reconcile.request import ReconcileRequest

MANY = 2
EXAMPLES = 5
_BUCKETS = 64
# What is lost in the type of the time must not be in what is given.
_WIDE = {kinds.DateType: "timestamp_ntz", kinds.DecimalType: "decimal(38,18)"}
_ZONELESS = (kinds.DateType, kinds.TimestampNTZType)
_WITH_AND_WITHOUT_ZONE = ("timestamp", "timestamp_ntz")
_SMALL = (
    kinds.BooleanType,
    kinds.ByteType,
    kinds.ShortType,
    kinds.IntegerType,
    kinds.LongType,
    kinds.DateType,
)
_BY = ("by", "owed", "sources", "alike", "visible", "changed", "identified")


def rows_of(source: DataFrame, sink: DataFrame, request: ReconcileRequest) -> DataFrame:
    """Put the rows of both tables into one: key, side, and what is counted.

    Raises ``UsageError`` for what cannot be compared, and for a time that is none.
    """
    ours, theirs = comparable.compared(source, sink, request)
    group, group_in_sink = _groups(source, sink, request)
    content = comparable.content(source) if request.repeats else f.lit(0)
    mine = source.select(
        *(column.alias(name) for name, column in ours.items()),
        _true().alias("first"),
        _owed(source, request.time.source, request, "source").alias("owed"),
        group.alias("by"),
        content.cast("long").alias("content"),
    )
    found = sink.select(
        *(column.alias(name) for name, column in theirs.items()),
        f.lit(False).alias("first"),  # noqa: FBT003 - a value of Spark's
        _owed_in_sink(sink, request).alias("owed"),
        group_in_sink.alias("by"),
        f.lit(None).cast("long").alias("content"),
    )
    return mine.unionByName(found)


def _owed(
    table: DataFrame, expression: str, request: ReconcileRequest, side: str
) -> Column:
    """Return whether a row's event is owed; one without a time is."""
    if not expression:
        return _true()
    comparable.refuse_more_than_a_row(table, expression, side)
    kind = comparable.type_of(table, expression, side)
    if isinstance(kind, kinds.StringType):
        message = (
            f"time {expression} is text in the {side}, and would be compared letter by "
            f"letter; write 'cast({expression} as timestamp)'"
        )
        raise UsageError(message)
    until = _literal(request.until, kind.simpleString())
    wide = _literal(request.until, _WIDE.get(type(kind), kind.simpleString()))
    same = f"{until} = {wide}"
    if isinstance(kind, _ZONELESS):
        # Spark reads a text with a zone as such a time, and leaves out the zone.
        moment, plain = (_literal(request.until, k) for k in _WITH_AND_WITHOUT_ZONE)
        same = f"{same} AND {moment} = cast({plain} as timestamp)"
    [[readable]] = table.sparkSession.range(1).selectExpr(same).collect()
    if not readable:
        zone = " without a zone" if isinstance(kind, _ZONELESS) else ""
        message = (
            f"until {request.until!r} is no {kind.simpleString()}{zone}, but time "
            f"{expression} of the {side} has that type; help: write it as that type, "
            "or cast the time"
        )
        raise UsageError(message)
    later = f.expr(f"({expression}) > {until}")
    if isinstance(kind, kinds.FloatType | kinds.DoubleType):
        later &= ~f.isnan(f.expr(expression))
    return f.coalesce(~later, _true())


def _owed_in_sink(sink: DataFrame, request: ReconcileRequest) -> Column:
    """Return whether a row of no event is judged: one that is later may yet have one.

    Where the sink has no such time, each is judged.
    """
    expression = request.time.sink
    if expression == request.time.source and expression:
        try:
            comparable.type_of(sink, expression, "sink")
        except UsageError:
            return _true()
    return _owed(sink, expression, request, "sink")


def _literal(text: str, kind: str) -> str:
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"try_cast('{quoted}' as {kind})"


def _groups(
    source: DataFrame, sink: DataFrame, request: ReconcileRequest
) -> tuple[Column, Column]:
    """Return the group of a row of each table; null in a sink without the columns.

    A number or a day takes less room than its text, so both stay what they are if both
    are the same. Raises ``UsageError`` for what is no value of one row.
    """
    nothing = f.lit(None).cast("string")
    if not request.by:
        return nothing, nothing
    comparable.refuse_more_than_a_row(source, request.by, "source")
    column = f.expr(request.by)
    one = comparable.type_of(source, request.by, "source")
    try:
        other = comparable.type_of(sink, request.by, "sink")
    except UsageError:
        return column.cast("string"), nothing
    comparable.refuse_more_than_a_row(sink, request.by, "sink")
    if one == other and isinstance(one, _SMALL):
        return column, column
    return column.cast("string"), column.cast("string")


def by_key(rows: DataFrame, request: ReconcileRequest) -> DataFrame:
    """Give each key its outcome: a row of ``_BY``, numbers, and ``number``."""
    first = f.col("first")
    found = {
        "rows": f.count(f.when(first, 1)),
        "visible": f.count(f.when(~first, 1)),
    }
    # What is the same of all events costs no room beside each key.
    known = {"owed": _true(), "alike": _true(), "by": f.lit(None).cast("string")}
    if request.until:
        owed = f.col("owed")
        found["owed"] = f.coalesce(f.max(f.when(first, owed)), f.max(owed))
    if request.repeats:
        content = f.col("content")
        alike = f.coalesce(f.min(content) == f.max(content), _true())
        found["alike"] = alike
    if request.by:
        by = f.col("by")
        of_source, of_sink = f.max(f.when(first, by)), f.max(f.when(~first, by))
        found["by"] = f.coalesce(of_source, of_sink)
        known["by"] = f.col("by").cast("string")
    for name in sum_names(request):
        found[f"{name}_source"] = f.max(f.when(first, f.col(name)))
        found[f"{name}_sink"] = f.try_sum(f.when(~first, f.col(name)))
    columns = [column.alias(name) for name, column in found.items()]
    counted = rows.groupBy(*key_names(request)).agg(*columns)
    counted = counted.withColumns(
        {k: v for k, v in known.items() if k == "by" or k not in found}
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
            "identified": _all(f.col(name).isNotNull() for name in key_names(request)),
            "number": f.xxhash64(*key_names(request)),
        }
    )


def by_outcome(keys: DataFrame, request: ReconcileRequest) -> DataFrame:
    """Count the keys of each outcome, with the ``numbers`` of a few as examples.

    A smallest number can be kept as counts are, and several cannot. So the keys of an
    outcome are counted in buckets first, each with its smallest number.
    """
    sides = [f"{n}_{side}" for n in sum_names(request) for side in ("source", "sink")]
    well = (f.col("sources") == 1) & (f.col("visible") == 1)
    well &= f.col("identified") & ~f.col("changed")
    bucket = f.when(~well, f.pmod("number", f.lit(_BUCKETS))).alias("bucket")
    counted = keys.groupBy(*_BY, bucket).agg(
        f.count(f.lit(1)).alias("events"),
        f.sum("rows").alias("rows"),
        f.min("number").alias("number"),
        *(f.try_sum(name).alias(name) for name in sides),
        *(_overflows(name).alias(f"{name}_overflows") for name in sides),
    )
    return counted.groupBy(*_BY).agg(
        f.sum("events").alias("events"),
        f.sum("rows").alias("rows"),
        f.slice(f.sort_array(f.collect_list("number")), 1, EXAMPLES).alias("numbers"),
        *(f.try_sum(name).alias(name) for name in sides),
        *(
            (f.max(f"{name}_overflows") | _overflows(name)).alias(f"{name}_overflows")
            for name in sides
        ),
    )


def _overflows(name: str) -> Column:
    """Return whether numbers that are known have a sum of more digits than Spark's."""
    return f.try_sum(name).isNull() & (f.count(name) > 0)


def with_numbers(
    rows: DataFrame, numbers: Iterable[int], request: ReconcileRequest
) -> DataFrame:
    """Give the keys with these numbers their outcomes; the others are only read."""
    names = key_names(request)
    chosen = rows.where(f.xxhash64(*names).isin(*numbers))
    keys = by_key(chosen, request)
    texts = {f"{name}_text": _text(name, keys) for name in names}
    return keys.withColumns(texts)


def _text(name: str, keys: DataFrame) -> Column:
    """Return a part of a key as text; bytes need not be letters."""
    column = f.col(name)
    binary = isinstance(keys.schema[name].dataType, kinds.BinaryType)
    return f.hex(column) if binary else column.cast("string")


def _all(columns: Iterable[Column]) -> Column:
    found = _true()
    for column in columns:
        found &= column
    return found


def _true() -> Column:
    return f.lit(True)  # noqa: FBT003 - a value of Spark's
