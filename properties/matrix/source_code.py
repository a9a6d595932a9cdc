"""Hashes of the source code that a verdict rests on.

They answer without tracing whether anything has changed since a composition was judged.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import onceproof.model.protocols as shelf

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from importlib.resources.abc import Traversable

_RESTS_ON = ("language", "search", "traces.py", "errors.py", "library.py")
_JUDGES = (
    "judges",
    "matrix/judging.py",
    "evidence/fingerprints.py",
    "guarantees.py",
    "ledger.py",
    "property.py",
    "verdicts.py",
)
_SHOWN = ("counterexample", "explorer", "matrix/opened.py")
_CODE = (".py", ".css", ".html", ".js")
_SHELF = f"{shelf.__name__}."


@cache
def of_judges() -> str:
    """Hash the code that a verdict rests on besides the model: language and judges."""
    return _hash({"onceproof.model": _RESTS_ON, "onceproof.properties": _JUDGES})


@cache
def of_explorer() -> str:
    """Hash the code that the explorer's page of a counterexample rests on."""
    shown = ("export", "traces.py", "text.py")
    return of_judges() + _hash(
        {"onceproof.model": shown, "onceproof.properties": _SHOWN}
    )


def _hash(packages: Mapping[str, Sequence[str]]) -> str:
    digest = hashlib.sha256()
    for package, names in packages.items():
        root = resources.files(package)
        for name in names:
            for place in _files(root.joinpath(*name.split("/"))):
                data = place.read_bytes()
                digest.update(f"{place.name} {len(data)} ".encode())
                digest.update(data)
    return digest.hexdigest()


def of_modules(modules: Iterable[str]) -> str:
    """Hash modules of the library, and all modules of it that they import."""
    digest = hashlib.sha256()
    for name in sorted(with_imports(modules)):
        digest.update(f"{name} {_read(name)[0]} ".encode())
    return digest.hexdigest()


def with_imports(modules: Iterable[str]) -> set[str]:
    """Return modules of the library, and all modules of it that they import."""
    every: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in every:
            every.add(name)
            waiting += _read(name)[1]
    return {name for name in every if _place(name) is not None}


@cache
def _read(module: str) -> tuple[str, tuple[str, ...]]:
    """Hash the source of a module; name the library's modules that it imports."""
    path = _place(module)
    if path is None:
        return "", ()
    source = path.read_bytes()
    found = (name for node in ast.walk(ast.parse(source)) for name in _imported(node))
    inside = {name for name in found if name.startswith(_SHELF)}
    return hashlib.sha256(source).hexdigest(), tuple(sorted(inside))


def _place(module: str) -> Traversable | None:
    """Return the file of a module of the library; None for a name inside a module."""
    inside = module.removeprefix(_SHELF).split(".")
    root = resources.files(shelf)
    for place in (
        root.joinpath(*inside[:-1], f"{inside[-1]}.py"),
        root.joinpath(*inside, "__init__.py"),
    ):
        if place.is_file():
            return place
    return None


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        # What is imported from a package may be a module of it.
        yield from (f"{node.module}.{one.name}" for one in node.names)


def _files(place: Traversable) -> Iterator[Traversable]:
    if place.is_dir():
        for inner in sorted(place.iterdir(), key=lambda p: p.name):
            if inner.is_dir() or inner.name.endswith(_CODE):
                yield from _files(inner)
    else:
        yield place
