"""Fingerprints: what a verdict was found for, as hashes that any machine finds again.

A protocol's is that of its traced terms, so that a comment or a docstring may change
and a guard may not. A property's is that of its clauses, traced over a protocol, with
the sentences that they claim. A file's is that of its bytes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING

from onceproof.model.language.sorts import Member, Sort

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.model.language.tracing.system import System
    from onceproof.properties.property import Property


def of_system(system: System, *, name: str | None = None) -> str:
    """Hash a protocol as its readers see it: its state, its steps, and its sizes.

    It has the protocol's name in it, or ``name`` in its place; with an empty one,
    protocols that differ in their names alone have one hash.
    """
    sizes = sorted((sort.name, size) for sort, size in system.sizes.items())
    state = [
        [
            field.path,
            _plain(field.type),
            [_plain(sort) for sort in field.sorts],
            [
                _plain(field.starts(_members(field.sorts, place)))
                for place in field.places(system.sizes)
            ],
            field.volatile,
        ]
        for field in system.fields
    ]
    steps = [
        [
            action.name,
            _plain(action.params),
            _plain(action.guard),
            _plain(action.writes),
            action.fault,
            action.fair,
        ]
        for action in system.actions
    ]
    name = system.name if name is None else name
    return _hash([*([name] if name else []), sizes, state, steps])


def of_property(prop: Property, system: System) -> str:
    """Hash a property as it is judged of a protocol: words and terms of its clauses."""
    clauses = [
        [clause.when, clause.text, _plain(question.term), _plain(question.given)]
        for clause, question in zip(prop.clauses, prop.questions(system), strict=True)
    ]
    return _hash([prop.name, prop.text, clauses])


def of_file(path: Path) -> str:
    """Hash the bytes of a file; a missing file has the empty text."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def of_data(data: object) -> str:
    """Hash plain data, whatever the order of its keys."""
    return _hash(data)


def _members(sorts: tuple[Sort, ...], place: tuple[int, ...]) -> tuple[Member, ...]:
    return tuple(Member(i, sort) for i, sort in zip(place, sorts, strict=True))


def _plain(what: object) -> object:
    """Return terms, and what they hold, as plain data that distinguishes all kinds."""
    if isinstance(what, Sort):
        return ["sort", what.name, what.ordered]
    if isinstance(what, Member):
        return ["member", what.sort.name, int(what)]
    if isinstance(what, Enum):
        return ["enum", type(what).__name__, what.name]
    if isinstance(what, type):
        names = [member.name for member in what] if issubclass(what, Enum) else []
        return ["type", what.__name__, names]
    if isinstance(what, tuple | list):
        return [_plain(one) for one in what]
    if is_dataclass(what):
        held = [_plain(getattr(what, field.name)) for field in fields(what)]
        return [type(what).__name__, *held]
    if what is None or isinstance(what, bool | int | str):
        return what
    message = f"{what!r} has no fingerprint"
    raise TypeError(message)


def _hash(data: object) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
