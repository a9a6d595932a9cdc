"""A protocol at other sizes: what of its terms depends on how many members there are.

A model that reads a size is noted as it does (``len``, ``sizes``). However else Python
finds a size out, the terms then differ at another size.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language.tracing.trace import trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.terms import terms as t
    from onceproof.model.language.tracing.system import System


_LANGUAGE = "onceproof.model.language."
_MAKING = ("__init__", "__new__", "__getattr__", "__getattribute__", "__setattr__")
"""Methods by which an object can hold what no declaration says."""


def resized(protocol: Protocol, sort: Sort, size: int) -> Protocol:
    """Return the protocol with another number of members of a sort."""
    made = copy.copy(protocol)
    made.__dict__.pop("_traced", None)
    made.__dict__.pop("_samples", None)
    made.settle({sort: size})
    return made


def other(system: System, sort: Sort, size: int) -> System:
    """Return the system with another number of members of a sort."""
    known: dict[tuple[Sort, int], System] = system.protocol.__dict__.setdefault(
        "_resized", {}
    )
    if (sort, size) not in known:
        known[sort, size] = trace(resized(system.protocol, sort, size))
    return known[sort, size]


def sized_by(system: System) -> frozenset[Sort]:
    """Return the sorts whose size the state or the steps of a system depend on.

    Where a class has a way of its own to be made, that is every sort: what it keeps
    may come from any size.
    """
    unordered = [(s, size) for s, size in system.sizes.items() if not s.ordered]
    if any(_is_made_its_own_way(type(part)) for part in system.protocol.all_parts()):
        return frozenset(sort for sort, _ in unordered)
    return frozenset(
        sort
        for sort, size in unordered
        if not all(_alike(system, sort, n) for n in (max(1, size - 1), size + 1))
    )


def _is_made_its_own_way(kind: type) -> bool:
    return any(
        name in vars(base)
        for base in kind.__mro__
        if base is not object and not base.__module__.startswith(_LANGUAGE)
        for name in _MAKING
    )


def claim_sized_by(
    system: System,
    term: t.Term,
    predicate: Callable[..., object],
    *,
    steps: bool,
) -> frozenset[Sort]:
    """Return the sorts whose size a claim depends on; ``term`` is its trace."""

    def same(sort: Sort, size: int) -> bool:
        try:
            return other(system, sort, size).claim(predicate, steps=steps) == term
        except ModelError:
            return False

    return frozenset(
        sort
        for sort, size in system.sizes.items()
        if not sort.ordered and not same(sort, size + 1)
    )


def _alike(system: System, sort: Sort, size: int) -> bool:
    """Return whether a system is the same at another size; one that is none is not."""
    try:
        return _terms(other(system, sort, size)) == _terms(system)
    except ModelError:
        return False


def _terms(system: System) -> list[Any]:
    fields = [(field.path, field.type, field.sorts) for field in system.fields]
    return [
        fields,
        [(a.name, a.params, a.guard, a.writes, a.fair) for a in system.actions],
    ]
