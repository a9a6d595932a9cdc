"""Schemas from files: types of Spark's own alone, for a user's type is code to Spark.

Spark's JSON of a schema may name a class, in Python or in Java, or hold one pickled:
to read such a schema imports the class, or unpickles it.
"""

from __future__ import annotations

import json
from typing import Any

from onceproof.model.errors import UsageError

_PARTS = {
    "struct": {"fields"},
    "array": {"elementType", "containsNull"},
    "map": {"keyType", "valueType", "valueContainsNull"},
}
_FIELD = {"name", "type", "nullable", "metadata"}


def harmless(schema: str) -> str:
    """Return a schema, a DDL text or Spark's JSON, that names types of Spark alone.

    Raises ``UsageError`` for any other.
    """
    if not schema.lstrip().startswith("{"):
        return schema
    from pyspark.sql.types import StructType  # noqa: PLC0415 - slow to import

    try:
        data = json.loads(schema)
        _type(data)
        if data["type"] == "struct":
            return StructType.fromJson(data).json()
        why = "it is no struct"
    except Exception as error:  # noqa: BLE001 - Spark's are of many kinds
        why = str(error).splitlines()[0][:160] if str(error) else type(error).__name__
    message = f"the schema of the file's events is damaged: {why}"
    raise UsageError(message)


def _type(data: Any) -> None:
    """Raise ``ValueError`` for a type that is not Spark's own."""
    if isinstance(data, str):
        return
    kind = data.get("type") if isinstance(data, dict) else data
    parts = _PARTS.get(kind) if isinstance(kind, str) else None
    if not isinstance(data, dict) or parts is None:
        message = f"there is no type {str(kind)[:60]!r} of Spark's own"
        raise ValueError(message)
    if set(data) != parts | {"type"}:
        message = f"a type {kind!r} has {', '.join(sorted(parts))}, and nothing else"
        raise ValueError(message)
    if kind == "struct":
        _fields(data["fields"])
    for name in parts:
        if name.endswith("Type"):
            _type(data[name])


def _fields(fields: Any) -> None:
    known = isinstance(fields, list) and all(
        isinstance(one, dict)
        and {"name", "type"} <= set(one) <= _FIELD
        and isinstance(one["name"], str)
        for one in fields
    )
    if not known:
        message = "its fields are not objects with a name and a type"
        raise ValueError(message)
    for one in fields:
        _type(one["type"])
