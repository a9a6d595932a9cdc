"""The public names of a module, and the methods of a class, with what they do."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

from tests.docs.reference.markdown import attribute_docs, described, head, marked, row

if TYPE_CHECKING:
    from collections.abc import Iterator


# A longer signature has a line of its own, below the table.
WIDEST = 48


def names(module: str, *wanted: str) -> Iterator[str]:
    """Write a table of names, then each name with its signature and its details."""
    yield from _entries(importlib.import_module(module), module, wanted)


def members(module: str, kind: str, *wanted: str) -> Iterator[str]:
    """Write a table of methods of a class, then each with its details.

    All public ones are shown where none is named. ``METHOD=NAME`` shows a method under
    another name.
    """
    owner = getattr(importlib.import_module(module), kind)
    public = tuple(name for name in vars(owner) if not name.startswith("_"))
    yield from _entries(owner, module, wanted or public)


def _entries(owner: Any, module: str, wanted: tuple[str, ...]) -> Iterator[str]:
    details: list[str] = []
    yield from head("name", "what it does")
    for word in wanted:
        name, _, other = word.partition("=")
        shown = other or name
        thing = inspect.getattr_static(owner, name, None) or getattr(owner, name)
        kind = owner.__name__ if isinstance(owner, type) else ""
        home = module if kind else _home(thing, name, module)
        first, rest = described(thing, (kind, name), home)
        signature = _signature(owner, thing, shown)
        short = len(signature) <= WIDEST
        yield row(f"`{signature if short else shown}`", first)
        fields = [*_documented_fields(thing)]
        if rest or fields or not short:
            details += ["", f"**`{signature}`**"]
        if rest:
            details += ["", rest]
        if fields:
            details += ["", *fields]
    yield from details


def _documented_fields(thing: object) -> Iterator[str]:
    if isinstance(thing, type) and dataclasses.is_dataclass(thing):
        docs = attribute_docs(thing.__module__)
        for field in dataclasses.fields(thing):
            text = " ".join(docs.get((thing.__qualname__, field.name), ())).split()
            if text:
                yield f"- `{field.name}`: {marked(' '.join(text))}"


def _home(thing: object, name: str, module: str) -> str:
    """Find the module whose source documents a name that is only assigned."""
    for near in (module, *sorted(sys.modules)):
        ours = near.startswith("onceproof.")
        there = ours and vars(sys.modules[near]).get(name) is thing
        if there and ("", name) in attribute_docs(near):
            return near
    return module


def _signature(owner: Any, thing: Any, shown: str) -> str:
    if not isinstance(thing, (FunctionType, staticmethod, type)):
        return shown
    called = list(inspect.signature(thing).parameters.values())
    if isinstance(owner, type) and not isinstance(thing, staticmethod):
        called = called[1:]
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in called]
    text = f"{shown}{inspect.Signature(plain)}"
    made_of = dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else ()
    for field in made_of:
        if field.default_factory is not dataclasses.MISSING:
            made = f"{field.name}={field.default_factory()!r}"
            text = text.replace(f"{field.name}=<factory>", made)
    return text
