"""The queries of the grid, one file for each kind, and those of a user."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError

if TYPE_CHECKING:
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
    """Return a query of the catalogue, or the one at ``module:name``.

    Raises ``UsageError``.
    """
    from onceproof.model.library import pick  # noqa: PLC0415 - slow to import
    from onceproof.spark_checks.queries.query_spec import QuerySpec  # noqa: PLC0415

    if ":" not in text:
        known = every_query()
        return known[pick(text, known, "query")]
    place, _, name = text.partition(":")
    try:
        found = getattr(importlib.import_module(place), name)
    except (ImportError, AttributeError) as error:
        message = f"there is no query {text}: {error}"
        raise UsageError(message) from None
    if not isinstance(found, QuerySpec):
        message = f"{text} is no QuerySpec, but {type(found).__name__}"
        raise UsageError(message)
    return found
