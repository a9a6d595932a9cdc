"""What can be compared: keys and numbers of both tables, as columns of one type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql import types as kinds

from onceproof.model.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from onceproof.spark_checks.reconcile.request import Pair, ReconcileRequest

_WHOLE = (kinds.ByteType, kinds.ShortType, kinds.IntegerType, kinds.LongType)
_IN_FULL = "decimal(20,0)"


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
    for name, pair in zip(key_names(request), request.key, strict=True):
        ours[name], theirs[name] = _keys(pair, source, sink)
    for name, pair in zip(sum_names(request), request.sums, strict=True):
        ours[name] = _number(pair, pair.source, source)
        theirs[name] = _number(pair, pair.sink, sink)
    return ours, theirs


def _keys(pair: Pair, source: DataFrame, sink: DataFrame) -> tuple[Column, Column]:
    one, other = type_of(source, pair.source), type_of(sink, pair.sink)
    columns = f.expr(pair.source), f.expr(pair.sink)
    if isinstance(one, _WHOLE) and isinstance(other, _WHOLE):
        return columns[0].cast("long"), columns[1].cast("long")
    if one.simpleString() == other.simpleString() and not _holds_a_map(one):
        return columns
    message = (
        f"key {pair} is {one.simpleString()} in the source and "
        f"{other.simpleString()} in the sink; take what can be compared, as in "
        f"'cast({pair.source} as string)=cast({pair.sink} as string)'"
    )
    raise UsageError(message)


def _number(pair: Pair, expression: str, table: DataFrame) -> Column:
    kind = type_of(table, expression)
    if isinstance(kind, _WHOLE):
        return f.expr(expression).cast(_IN_FULL)
    if isinstance(kind, kinds.DecimalType):
        return f.expr(expression)
    message = (
        f"the sum of {pair} would be one of {kind.simpleString()}, which is not exact; "
        f"cast it, as in 'cast({expression} as decimal(18,2))'"
    )
    raise UsageError(message)


def type_of(table: DataFrame, expression: str) -> kinds.DataType:
    """Return the type of an expression over a table."""
    return table.select(f.expr(expression)).schema[0].dataType


def content(table: DataFrame) -> Column:
    """Return a number that two rows share if they are the same, and hardly else."""
    columns = [
        f.to_json(f.struct(field.name))
        if _holds_a_map(field.dataType)
        else f.col(f"`{field.name.replace('`', '``')}`")
        for field in table.schema
    ]
    return f.xxhash64(*columns)


def _holds_a_map(kind: kinds.DataType) -> bool:
    if isinstance(kind, kinds.StructType):
        return any(_holds_a_map(field.dataType) for field in kind)
    if isinstance(kind, kinds.ArrayType):
        return _holds_a_map(kind.elementType)
    return isinstance(kind, kinds.MapType)
