"""Rows made for a schema, such that loss and repetition show, and cannot cancel out.

Every row differs from every other in each column of the key, or in each where there
is none. Numbers are powers of one base: a sum shows how often each row is in it. Texts
and dates beside the key come again in every batch, as customers and days do.
"""

from __future__ import annotations

import datetime as dt
import decimal
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_BASE = 8
_REPEATS = ("string", "varchar", "char", "date")
# Batches and tasks hold even numbers of rows: each value reaches all of them.
_VALUES = 3
_EXACT = {"byte": 7, "short": 15, "integer": 31, "long": 63, "float": 24, "double": 53}
_DAY = dt.date(2020, 1, 1)
_TIME = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


def rows_of(
    schema: StructType, count: int, key: tuple[str, ...]
) -> list[tuple[Any, ...]]:
    """Make so many rows of a schema, no two with the same key.

    Raises ``UsageError`` where a key's column has no room for so many, or a column is
    of a type for which no values are made.
    """
    repeated = _repeated(schema, key)
    rows = [
        tuple(
            _value(f.dataType, n % _VALUES if f.name in repeated else n, count, f.name)
            for f in schema
        )
        for n in range(count)
    ]
    names = schema.fieldNames()
    places = [names.index(name) for name in key if name in names]
    if places and len({repr([row[i] for i in places]) for row in rows}) < count:
        message = f"the key {', '.join(key)} has no room for {count} different events"
        raise UsageError(message)
    return rows


def _repeated(schema: StructType, key: tuple[str, ...]) -> set[str]:
    """Name the columns whose values repeat, where a key identifies the rows."""
    kinds = {field.name: field.dataType.typeName() for field in schema}
    return {n for n, kind in kinds.items() if key and kind in _REPEATS and n not in key}


def power(number: int, count: int, bits: int) -> int:
    """Return a weight for row ``number`` of ``count``, below two to the power ``bits``.

    Sums of weights are equal only if each row is in both as often, up to seven times;
    fewer where there is no room for so many rows.
    """
    base = _BASE
    while base > 2 and base ** (count - 1) >= 1 << bits:  # noqa: PLR2004 - no less
        base -= 1
    if base ** (count - 1) < 1 << bits:
        return int(base**number)
    return number % ((1 << bits) - 1) + 1


def _value(kind: DataType, number: int, count: int, name: str) -> Any:
    type_name = kind.typeName()
    if type_name in ("string", "varchar", "char"):
        return f"{name}-{number:03}"
    if type_name in ("float", "double"):
        return float(power(number, count, _EXACT[type_name]))
    if type_name in _EXACT:
        return power(number, count, _EXACT[type_name])
    if type_name == "decimal":
        whole: Any = kind
        bits = int(10 ** (whole.precision - whole.scale)).bit_length() - 1
        return decimal.Decimal(power(number, count, max(bits, 1)))
    if type_name == "boolean":
        return number % 2 == 0
    if type_name == "date":
        return _DAY + dt.timedelta(days=number)
    if type_name == "timestamp":
        return _TIME + dt.timedelta(minutes=number)
    if type_name == "timestamp_ntz":
        return _TIME.replace(tzinfo=None) + dt.timedelta(minutes=number)
    if type_name == "binary":
        return bytearray(f"{name}-{number:03}".encode())
    return _nested(kind, number, count, name)


def _nested(kind: Any, number: int, count: int, name: str) -> Any:
    type_name = kind.typeName()
    if type_name == "struct":
        return tuple(_value(f.dataType, number, count, f.name) for f in kind)
    if type_name == "array":
        return [_value(kind.elementType, number, count, name)]
    if type_name == "map":
        key = _value(kind.keyType, number, count, f"{name}-key")
        return {key: _value(kind.valueType, number, count, name)}
    message = (
        f"no values are made for {name}, of type {type_name}; "
        "help: give a sample of rows"
    )
    raise UsageError(message)
