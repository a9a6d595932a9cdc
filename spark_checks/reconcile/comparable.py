"""What can be compared: keys and numbers of both tables, as columns of one type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import functions as f
from pyspark.sql import types as kinds

from onceproof.model.errors import UsageError
from onceproof.spark_checks.own_session import sentences

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from onceproof.spark_checks.reconcile.request import Pair, ReconcileRequest

_NO_KEYS = (
    kinds.StructType,
    kinds.ArrayType,
    kinds.MapType,
    kinds.FloatType,
    kinds.DoubleType,
)
_WHOLE = (kinds.ByteType, kinds.ShortType, kinds.IntegerType, kinds.LongType)
_IN_FULL = "decimal(20,0)"
_MOST_DIGITS = 38


def key_names(request: ReconcileRequest) -> list[str]:
    """Name the columns that hold the key."""
    return [f"k{n}" for n in range(len(request.key))]


def sum_names(request: ReconcileRequest) -> list[str]:
    """Name the columns that hold the numbers."""
    return [f"v{n}" for n in range(len(request.sums))]


def compared(
    source: DataFrame, sink: DataFrame, request: ReconcileRequest
) -> tuple[dict[str, Column], dict[str, Column]]:
    """Return the columns of keys and numbers, of the source and of the sink.

    Raises ``UsageError`` where types differ, or sums would depend on their order.
    """
    ours: dict[str, Column] = {}
    theirs: dict[str, Column] = {}
    for pair in (*request.key, *request.sums):
        refuse_more_than_a_row(source, pair.source, "source")
        refuse_more_than_a_row(sink, pair.sink, "sink")
    for name, pair in zip(key_names(request), request.key, strict=True):
        ours[name], theirs[name] = _keys(pair, source, sink)
    for name, pair in zip(sum_names(request), request.sums, strict=True):
        ours[name] = _number(pair, pair.source, source, "source")
        theirs[name] = _number(pair, pair.sink, sink, "sink")
        _refuse_rounding(pair, source.select(ours[name]), sink.select(theirs[name]))
    return ours, theirs


def _keys(pair: Pair, source: DataFrame, sink: DataFrame) -> tuple[Column, Column]:
    one = type_of(source, pair.source, "source")
    other = type_of(sink, pair.sink, "sink")
    columns = f.expr(pair.source), f.expr(pair.sink)
    if isinstance(one, _WHOLE) and isinstance(other, _WHOLE):
        return columns[0].cast("long"), columns[1].cast("long")
    if one.simpleString() != other.simpleString():
        message = (
            f"key {pair} is {one.simpleString()} in the source and "
            f"{other.simpleString()} in the sink; take what can be compared, as in "
            f"'cast({pair.source} as string)=cast({pair.sink} as string)'"
        )
        raise UsageError(message)
    if isinstance(one, _NO_KEYS) or "collate" in one.simpleString():
        message = (
            f"key {pair} is {one.simpleString()}, of which more than one value is the "
            "same; take its fields one by one, or 'cast(... as string)', or "
            "'collate(..., UTF8_BINARY)'"
        )
        raise UsageError(message)
    return columns


def _number(pair: Pair, expression: str, table: DataFrame, side: str) -> Column:
    kind = type_of(table, expression, side)
    if isinstance(kind, _WHOLE):
        return f.expr(expression).cast(_IN_FULL)
    if isinstance(kind, kinds.DecimalType):
        return f.expr(expression)
    message = (
        f"the sum of {pair} would be one of {kind.simpleString()}, which is not exact; "
        f"cast it, as in 'cast({expression} as decimal(18,2))'"
    )
    raise UsageError(message)


def _refuse_rounding(pair: Pair, ours: DataFrame, theirs: DataFrame) -> None:
    """Refuse decimals of which no type of Spark holds both: it would round one."""
    both = [table.schema[0].dataType for table in (ours, theirs)]
    sizes = [(k.precision, k.scale) for k in both if isinstance(k, kinds.DecimalType)]
    whole = max(precision - scale for precision, scale in sizes)
    if whole + max(scale for _, scale in sizes) > _MOST_DIGITS:
        message = (
            f"the sum of {pair} is of {both[0].simpleString()} in the source and "
            f"{both[1].simpleString()} in the sink, and Spark would round one of them; "
            f"cast both, as in 'cast({pair.source} as decimal(28,10))"
            f"=cast({pair.sink} as decimal(28,10))'"
        )
        raise UsageError(message)


def refuse_more_than_a_row(table: DataFrame, expression: str, side: str) -> None:
    """Refuse what one row does not determine: aggregates, windows, chance, row numbers.

    The condition of a join may have none of these, and Spark says so before it reads.
    """
    other = table.sparkSession.range(1).toDF("onceproof reconcile nobody")
    found = type_of(table, expression, side)
    try:
        _ = table.join(other, f.expr(expression).isNotNull(), "left_semi").schema
    except PySparkException:
        message = (
            f"{expression} is no value of one row (it is {found.simpleString()} of "
            "several rows, of chance, or of where a row is stored); take an expression "
            "over columns of the row alone"
        )
        raise UsageError(message) from None


def type_of(table: DataFrame, expression: str, side: str) -> kinds.DataType:
    """Return the type of an expression over a table, which is the source or the sink.

    Raises ``UsageError`` where Spark cannot read it.
    """
    with sentences(f"{expression!r} cannot be read over the {side}"):
        return table.select(f.expr(expression)).schema[0].dataType


def content(table: DataFrame) -> Column:
    """Return a number that two rows share if they are the same, and hardly else."""
    columns = [
        _in_full(f.col(f"`{field.name.replace('`', '``')}`"), field.dataType)
        for field in table.schema
    ]
    return f.xxhash64(*columns)


def _in_full(value: Column, kind: kinds.DataType) -> Column:
    """Return a value whose hash tells nulls and lengths: a hash skips what is null."""
    parts = [value.isNull()]
    if isinstance(kind, kinds.MapType):
        value, kind = f.map_entries(value), _entries(kind)
    if isinstance(kind, kinds.StructType):
        parts += [_in_full(value.getField(one.name), one.dataType) for one in kind]
    elif isinstance(kind, kinds.ArrayType):
        inner = kind.elementType
        parts += [f.size(value), f.transform(value, lambda one: _in_full(one, inner))]
    else:
        parts.append(value)
    return f.struct(*(part.alias(f"p{n}") for n, part in enumerate(parts)))


def _entries(kind: kinds.MapType) -> kinds.ArrayType:
    entry = kinds.StructType().add("key", kind.keyType).add("value", kind.valueType)
    return kinds.ArrayType(entry)
