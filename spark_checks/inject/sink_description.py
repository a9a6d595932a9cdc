"""The description of a sink for a process without it: data, and no code."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.spark_checks.sinks.interface import (
    BatchJob,
    Files,
    Foreach,
    ForeachBatch,
    Format,
    Query,
)
from onceproof.spark_checks.sinks.named_part import functions_of, reference_of
from onceproof.spark_checks.sinks.readers import ALONE, named_readers

if TYPE_CHECKING:
    from onceproof.spark_checks.session.processes.wire import Message
    from onceproof.spark_checks.sinks.interface import UnderTest

_KINDS = (ForeachBatch, Foreach, Format, Files, Query, BatchJob)


@dataclass(frozen=True)
class DataSourceClass:
    """A Python ``DataSource`` class: its name, and what aborts in its module."""

    name: str
    """The name of the class."""
    aborts: tuple[str, ...]
    """The qualified names of the functions that abort a batch."""


def elsewhere(*_: object, **__: object) -> Any:
    """Refuse to run: the function runs only in a host."""
    message = "the sink's own functions run in hosts"
    raise RuntimeError(message)


def describe(sink: Any) -> Message:
    """Describe a sink as data: its kind, and its fields that are no code.

    Raises ``UsageError`` for what is no sink.
    """
    kind = next((k for k in _KINDS if isinstance(sink, k)), None)
    if kind is None:
        names = ", ".join(k.__name__ for k in _KINDS)
        message = f"a sink is one of {names}, not {type(sink).__name__} {sink!r}"
        raise UsageError(message)
    description: Message = {
        "kind": kind.__name__,
        "read": {
            name: [None if callable(read) else str(read), isinstance(read, Path)]
            for name, read in named_readers(sink.read).items()
        },
        "result": sink.result is not None,
        "model": reference_of(sink.model),
        "steps": functions_of(sink.steps),
        "fields": {},
    }
    if isinstance(sink, Format):
        description["fields"] = {
            "options": {k: str(v) for k, v in sink.options.items()}
        }
        if isinstance(sink.name, type):
            description["source"] = [_name_of(sink.name), list(_aborts(sink.name))]
        else:
            description["fields"]["name"] = str(sink.name)
    if isinstance(sink, Files):
        description["fields"] = {"format": sink.format, "path": str(sink.path)}
    return description


def described(message: Message) -> UnderTest:
    """Return a sink of the same kind, whose functions are elsewhere."""
    kind: Any = next(k for k in _KINDS if k.__name__ == message["kind"])
    readers: dict[str, Any] = {
        name: elsewhere if text is None else Path(text) if is_path else text
        for name, (text, is_path) in message["read"].items()
    }
    given = {
        "read": readers.get(ALONE, readers),
        "result": elsewhere if message["result"] else None,
        "model": message["model"],
        "steps": message["steps"],
        **message["fields"],
    }
    if "source" in message:
        name, aborts = message["source"]
        given["name"] = DataSourceClass(name, tuple(aborts))
    for name in ("write", "writer", "start", "run"):
        if name in kind.__dataclass_fields__:
            given[name] = elsewhere
    found: UnderTest = kind(**given)
    return found


def _name_of(source: Any) -> str:
    return str(source.name())


def _aborts(source: type) -> list[str]:
    """Name the functions that abort, of all writers in the module of a source."""
    from pyspark.sql.datasource import DataSourceStreamWriter  # noqa: PLC0415

    return [
        what.abort.__qualname__
        for what in vars(sys.modules[source.__module__]).values()
        if isinstance(what, type)
        and issubclass(what, DataSourceStreamWriter)
        and "abort" in vars(what)
    ]
