"""The queries of the grid, one file for each kind, and those of a user."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType

    from onceproof.spark_checks.queries.query_spec import QuerySpec

_KINDS = (
    "mapped",
    "windows",
    "duplicates",
    "joins",
    "sessions",
    "chains",
    "pandas_state",
    "transforms",
)


def every_query() -> dict[str, QuerySpec]:
    """Return all queries of the catalogue, by name."""
    modules = (importlib.import_module(f"{__name__}.{kind}") for kind in _KINDS)
    return {query.name: query for module in modules for query in module.QUERIES}


def named(text: str) -> QuerySpec:
    """Return a query of the catalogue, or that at ``MODULE:NAME`` or ``FILE.py:NAME``.

    A module is looked for in the current folder, too. Raises ``UsageError``.
    """
    from onceproof.model.library import pick  # noqa: PLC0415 - slow to import
    from onceproof.model.loading import load  # noqa: PLC0415
    from onceproof.spark_checks.queries.query_spec import QuerySpec  # noqa: PLC0415

    if text.endswith(".py"):
        message = f"{text} names a file and no query in it; help: write {text}:NAME"
        raise UsageError(message)
    if ":" not in text:
        known = every_query()
        return known[pick(text, known, "query")]
    place, _, name = text.rpartition(":")
    try:
        module = load(Path(place)) if place.endswith(".py") else _imported(place)
    except (ImportError, ValueError) as error:
        message = f"there is no query {text}: {error}"
        missing = isinstance(error, ModuleNotFoundError) and error.name
        if missing and f"{place}.".startswith(f"{missing}."):
            message += "; help: write FILE.py:NAME for a file elsewhere"
        raise UsageError(message) from None
    found = getattr(module, name, None)
    if found is None:
        there = [n for n, one in vars(module).items() if isinstance(one, QuerySpec)]
        help_ = f"help: {place} has {', '.join(there)}"
        why = help_ if there else f"{place} has no QuerySpec"
        message = f"there is no query {text}; {why}"
        raise UsageError(message)
    if not isinstance(found, QuerySpec):
        help_ = f'; wrap it: QuerySpec("{name}", {name})' if callable(found) else ""
        message = f"{text} is no QuerySpec, but {type(found).__name__}{help_}"
        raise UsageError(message)
    return found


def _imported(name: str) -> ModuleType:
    """Import a module, of the current folder too, as ``python -m`` does."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    return importlib.import_module(name)
