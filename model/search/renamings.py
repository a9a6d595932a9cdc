"""Renamings of the members of interchangeable sorts: of states, and of packed states.

A sort's members are interchangeable if no step, claim or start names one of them. Then
each permutation of them makes runs of runs.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from onceproof.model.language.terms.substitution import named_sorts
from onceproof.model.language.terms.types import (
    MemberType,
    cardinality,
    decode,
    encode,
    member,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.terms.terms import Term
    from onceproof.model.language.terms.types import Type, Value
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.states.layout import Layout, Placement

    Words = NDArray[np.int64]

Renaming: TypeAlias = "Mapping[Sort, tuple[int, ...]]"

MOST_RENAMINGS = 720


def interchangeable(system: System, terms: Iterable[Term] = ()) -> list[Sort]:
    """List the sorts whose members can be renamed without anyone noticing.

    No member is named by its number: not by a step, a claim or an observation of the
    protocol, not where it starts from, and not by any of ``terms``.
    """
    named = system.named.union(*map(named_sorts, terms))
    named = named.union(*(field.named_members() for field in system.fields))
    return [
        s
        for s, size in system.sizes.items()
        if size > 1 and not s.ordered and s not in named
    ]


def count_renamings(sorts: Iterable[Sort], sizes: Mapping[Sort, int]) -> int:
    """Count the ways to rename the members of some sorts."""
    return math.prod(math.factorial(sizes[s]) for s in sorts)


def renamings(sorts: Sequence[Sort], sizes: Mapping[Sort, int]) -> Iterator[Renaming]:
    """Yield the ways to rename the members of some sorts, the plain one first."""
    ways = [itertools.permutations(range(sizes[s])) for s in sorts]
    for way in itertools.product(*ways):
        yield dict(zip(sorts, way, strict=True))


def renamed(
    members: tuple[int, ...], sorts: tuple[Sort, ...], renaming: Renaming
) -> tuple[int, ...]:
    """Rename a tuple of members of the given sorts."""
    return tuple(
        renaming[sort][i] if sort in renaming else i
        for i, sort in zip(members, sorts, strict=True)
    )


def renamed_value(type_: Type, value: Value, renaming: Renaming) -> Value:
    """Rename what an element holds, if it is a member."""
    if not isinstance(type_, MemberType) or type_.sort not in renaming:
        return value
    number = int(cast("int", value))
    return value if number < 0 else member(renaming[type_.sort][number], type_.sort)


def renaming_tables(
    layout: Layout, sorts: Sequence[Sort], sizes: Mapping[Sort, int]
) -> tuple[Words, ...]:
    """Say where each renaming moves the elements of a packed state, in its order.

    These are the tables that ``canonical_rows.least_renaming`` takes.
    """
    spots = [
        (place, at, place.spot(position(place.dims, at)))
        for place in layout.placements.values()
        for at in itertools.product(*(range(d) for d in place.dims))
    ]
    to_words, to_shifts = [], []
    for renaming in renamings(sorts, sizes):
        moved = [
            place.spot(position(place.dims, renamed(at, place.field.sorts, renaming)))
            for place, at, _ in spots
        ]
        to_words.append([w for w, _ in moved])
        to_shifts.append([s for _, s in moved])
    return (
        np.array([w for _, _, (w, _) in spots], np.int64),
        np.array([s for _, _, (_, s) in spots], np.int64),
        np.array([place.mask for place, _, _ in spots], np.int64),
        np.array(to_words, np.int64),
        np.array(to_shifts, np.int64),
        *_recoding([place for place, _, _ in spots], sorts, sizes),
    )


def _recoding(
    places: Iterable[Placement], sorts: Sequence[Sort], sizes: Mapping[Sort, int]
) -> tuple[Words, Words]:
    """Say which elements hold members, and how each renaming changes their codes.

    An element has the number of its table, or -1 if no renaming changes it.
    """
    types: dict[MemberType, int] = {}
    which = []
    for place in places:
        type_ = place.field.type
        held = isinstance(type_, MemberType) and type_.sort in sorts
        which.append(
            types.setdefault(cast("MemberType", type_), len(types)) if held else -1
        )
    most = max((sizes[one.sort] + 1 for one in types), default=1)
    tables = []
    for renaming in renamings(sorts, sizes):
        for type_ in types:
            codes = range(cardinality(type_, sizes[type_.sort]))
            new = [
                encode(type_, renamed_value(type_, decode(type_, code), renaming))
                for code in codes
            ]
            tables.append(new + [0] * (most - len(new)))
    shape = (-1, max(1, len(types)), most)
    found = np.array(tables or [[0] * most], np.int64).reshape(shape)
    return np.array(which, np.int64), found


def position(dims: tuple[int, ...], at: tuple[int, ...]) -> int:
    """Return the number of an element of a field of these dimensions."""
    found = 0
    for dim, index in zip(dims, at, strict=True):
        found = found * dim + index
    return found
