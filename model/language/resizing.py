"""A protocol at other sizes: what of its terms depends on how many members there are.

A model that asks for a size is noted as it asks (``len``, ``sizes``). Whatever other
way Python knows to find a size out, its terms are not the same at another size.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from onceproof.model.language.trace import System, trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onceproof.model.language import terms as t
    from onceproof.model.language.protocol import Protocol
    from onceproof.model.language.sorts import Sort


def resized(protocol: Protocol, sort: Sort, size: int) -> Protocol:
    """Give the protocol with another number of members of a sort."""
    made = copy.copy(protocol)
    made.__dict__.pop("_traced", None)
    made.__dict__.pop("_samples", None)
    made.settle({sort: size})
    return made


def others(system: System, sort: Sort) -> Iterator[System]:
    """Yield the system with one member less of a sort, and with one more."""
    known: dict[tuple[Sort, int], System] = system.protocol.__dict__.setdefault(
        "_resized", {}
    )
    for size in (system.sizes[sort] - 1, system.sizes[sort] + 1):
        if size:
            if (sort, size) not in known:
                known[sort, size] = trace(resized(system.protocol, sort, size))
            yield known[sort, size]


def sized_by(system: System) -> frozenset[Sort]:
    """Give the sorts whose size the state or the steps of a system depend on."""
    return frozenset(
        sort
        for sort in system.sizes
        if not sort.ordered
        and any(_terms(other) != _terms(system) for other in others(system, sort))
    )


def claim_sized_by(
    system: System,
    term: t.Term,
    predicate: Callable[..., object],
    *,
    steps: bool,
) -> frozenset[Sort]:
    """Give the sorts whose size a claim depends on, where ``term`` is traced of it."""
    return frozenset(
        sort
        for sort in system.sizes
        if not sort.ordered
        and any(
            other.claim(predicate, steps=steps) != term
            for other in others(system, sort)
        )
    )


def _terms(system: System) -> list[Any]:
    fields = [(field.path, field.type, field.sorts) for field in system.fields]
    return [
        fields,
        [(a.name, a.params, a.guard, a.writes, a.fair) for a in system.actions],
    ]
