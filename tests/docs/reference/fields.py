"""The form of files and settings: fields of dataclasses, keys of a JSON schema."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import pydoc
import re
from typing import TYPE_CHECKING, Any

from onceproof.properties.schema import may_lack
from tests.docs.reference.markdown import attribute_docs, head, marked, row
from tests.test_house import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator


def form(module: str) -> Iterator[str]:
    """Write the keys by which a JSON file is recognised."""
    loaded = importlib.import_module(module)
    yield f'`"format": "{loaded.FORMAT.name}", "schema": {loaded.FORMAT.schema}`'


def fields(path: str) -> Iterator[str]:
    """Write the docstring of a dataclass, then a table of its fields."""
    kind = pydoc.locate(path)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        message = f"{path} is no dataclass"
        raise TypeError(message)
    yield marked(inspect.getdoc(kind) or "")
    yield ""
    docs = attribute_docs(kind.__module__)
    output = {
        field.name: " ".join(docs.get((kind.__qualname__, field.name), ()))
        for field in dataclasses.fields(kind)
    }
    meaning = ("meaning",) if any(output.values()) else ()
    yield from head("field", "type", "if left out", *meaning)
    for field in dataclasses.fields(kind):
        text = (marked(output[field.name]),) if meaning else ()
        left_out = _otherwise(field) if _optional(kind, field.name) else ""
        yield row(f"`{field.name}`", f"`{_type(str(field.type))}`", left_out, *text)


def _optional(kind: type, name: str) -> bool:
    """Say whether a field may be left out: in a file only what its format allows."""
    try:
        return name in may_lack(kind)
    except AttributeError:
        return True


_ANNOTATED = re.compile(r"Annotated\[(.*), [^\[\]]*\]")
_PLAIN = {"Count": "int", "Scalars": "dict[str, str | int | float | bool]"}


def _type(text: str) -> str:
    """Write an annotation without what only a reader of files needs."""
    text = _ANNOTATED.sub(r"\1", text)
    names = rf"\b(?:{'|'.join(_PLAIN)})\b"
    return re.sub(names, lambda found: _PLAIN[found[0]], text)


def schema(name: str) -> Iterator[str]:
    """Write a table for each object of a JSON schema in ``docs``."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    yield from _object(json.loads(text), "tool.onceproof")


def _object(described: dict[str, Any], name: str) -> Iterator[str]:
    one = "." in name and "guarantees" not in name
    yield f"`[{name}]`" if one else f"`[[{name}]]`"
    yield ""
    yield from head("key", "type", "default", "meaning")
    inner = []
    for key, value in described["properties"].items():
        kinds = value["enum"] if "enum" in value else value["type"]
        kind = kinds if isinstance(kinds, str) else " or ".join(kinds)
        least, most = value.get("minimum"), value.get("maximum")
        kind = f"{kind}, {least} to {most}" if most is not None else kind
        default = f"`{value['default']}`" if "default" in value else ""
        default = "needed" if key in described.get("required", ()) else default
        yield row(f"`{key}`", kind, default, value.get("description", ""))
        if value.get("items", {}).get("type") == "object":
            inner.append((value["items"], f"{name}.{key}"))
    yield ""
    for item, path in inner:
        yield from _object(item, path)


def _otherwise(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{json.dumps(field.default)}`"
    if field.default_factory is not dataclasses.MISSING:
        return f"`{json.dumps(field.default_factory())}`"
    return ""
