"""Symmetry: one state represents all that differ only in the names of members.

Members of a sort that is not ordered are interchangeable. Where each field has at
most one index of such a sort, a state is a bag of its members' tuples, and sorting
the members by their whole tuple gives the representative. Where a field has more,
every renaming is tried, and the least packed state is the representative.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from onceproof.model.errors import UsageError
from onceproof.model.language.terms.substitution import named_sorts
from onceproof.model.language.terms.types import (
    MemberType,
    cardinality,
    decode,
    encode,
    member,
)
from onceproof.model.search.states import hash_table
from onceproof.model.search.states.layout import WORD_BITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

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


@dataclass(frozen=True)
class CanonicalForm:
    """The tables by which states are brought to one form; they can be pickled."""

    sorting: tuple[tuple[Words, ...], ...]
    """The tables of each sort whose members are sorted; none if renamings are tried."""
    renaming: tuple[Words, ...]
    """The tables of all renamings; none if members are sorted."""

    def reduce(self, rows: Words, number: int) -> None:
        """Replace each of the first ``number`` rows by its representative."""
        for table in self.sorting:
            hash_table.sort_members(rows, number, *table)
        if self.renaming:
            hash_table.least_renaming(rows, number, *self.renaming)


class Symmetry:
    """The interchangeable sorts of a system, and how a state is brought to one form."""

    def __init__(
        self, system: System, layout: Layout, terms: Collection[Term] = ()
    ) -> None:
        """Find the sorts that are interchangeable to ``terms``, and prepare the tables.

        Raises ``UsageError`` where none is, or where there are too many renamings.
        """
        self._places = layout.placements.values()
        self.sorts = [s for s in interchangeable(system, terms) if self._uses(s)]
        if not self.sorts:
            message = (
                f"{system.name} has no sort of two or more interchangeable members, "
                f"so symmetry has nothing to do{_why(system, terms)}"
            )
            raise UsageError(message)
        self._sizes = system.sizes
        indices = [[s in self.sorts for s in p.field.sorts] for p in self._places]
        holding = any(self._held(p) in self.sorts for p in self._places)
        self.simple = not holding and all(sum(row) <= 1 for row in indices)
        self.canonical = CanonicalForm(
            tuple(map(self._sorting, self.sorts)) if self.simple else (),
            () if self.simple else self._permuting(layout),
        )

    def _uses(self, sort: Sort) -> bool:
        return any(sort in (*p.field.sorts, self._held(p)) for p in self._places)

    @staticmethod
    def _held(place: Placement) -> Sort | None:
        """Return the sort whose members a field holds."""
        type_ = place.field.type
        return type_.sort if isinstance(type_, MemberType) else None

    def reduce(self, rows: Words, number: int) -> None:
        """Replace each of the first ``number`` rows by its representative."""
        self.canonical.reduce(rows, number)

    def twins(self, sort: Sort) -> list[tuple[Placement, int, list[tuple[int, ...]]]]:
        """List the fields that distinguish members of a sort.

        Each with the position of the sort's index, and all values of the others.
        """
        found = []
        for place in self._places:
            if sort in place.field.sorts:
                at = place.field.sorts.index(sort)
                others = [range(d) for i, d in enumerate(place.dims) if i != at]
                found.append((place, at, list(itertools.product(*others))))
        return found

    def _entangled(self) -> str:
        """Say which field keeps members from being sorted one by one."""
        for place in self._places:
            held = self._held(place)
            path = place.field.path
            if held in self.sorts:
                return f"state holds members, as {path} does"
            if sum(sort in self.sorts for sort in place.field.sorts) > 1:
                return f"state is per pairs of members, as {path} is"
        return "members cannot be sorted one by one"

    def _sorting(self, sort: Sort) -> tuple[Words, Words, Words]:
        words, shifts, bits = [], [], []
        for place, at, others in self.twins(sort):
            for other in others:
                spots = [
                    place.spot(_flat(place.dims, (*other[:at], m, *other[at:])))
                    for m in range(self._sizes[sort])
                ]
                words.append([w for w, _ in spots])
                shifts.append([s for _, s in spots])
                bits.append(place.bits)
        if sum(bits) > WORD_BITS:
            message = (
                f"a {sort.text} has {sum(bits)} bits of state, and symmetry handles "
                f"{WORD_BITS} at most; choose smaller sizes"
            )
            raise UsageError(message)
        return (
            np.array(words, np.int64),
            np.array(shifts, np.int64),
            np.array(bits, np.int64),
        )

    def _permuting(self, layout: Layout) -> tuple[Words, ...]:
        number = count_renamings(self.sorts, self._sizes)
        if number > MOST_RENAMINGS:
            sizes = ", ".join(f"{s.name}={self._sizes[s]}" for s in self.sorts)
            message = (
                f"{sizes} have {number:,} renamings, and {MOST_RENAMINGS} is the most "
                f"that are tried where {self._entangled()}; choose smaller sizes, or "
                "search without symmetry"
            )
            raise UsageError(message)
        spots = [
            (place, at, place.spot(_flat(place.dims, at)))
            for place in layout.placements.values()
            for at in itertools.product(*(range(d) for d in place.dims))
        ]
        to_words, to_shifts = [], []
        for renaming in renamings(self.sorts, self._sizes):
            moved = [
                place.spot(_flat(place.dims, renamed(at, place.field.sorts, renaming)))
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
            *self._recoding(place for place, _, _ in spots),
        )

    def _recoding(self, places: Iterable[Placement]) -> tuple[Words, Words]:
        """Say which elements hold members, and how each renaming changes their codes.

        An element has the number of its table, or -1 if no renaming changes it.
        """
        types: dict[MemberType, int] = {}
        which = []
        for place in places:
            type_ = place.field.type
            held = isinstance(type_, MemberType) and type_.sort in self.sorts
            which.append(
                types.setdefault(cast("MemberType", type_), len(types)) if held else -1
            )
        most = max((self._sizes[one.sort] + 1 for one in types), default=1)
        tables = []
        for renaming in renamings(self.sorts, self._sizes):
            for type_ in types:
                codes = range(cardinality(type_, self._sizes[type_.sort]))
                new = [
                    encode(type_, renamed_value(type_, decode(type_, code), renaming))
                    for code in codes
                ]
                tables.append(new + [0] * (most - len(new)))
        shape = (-1, max(1, len(types)), most)
        found = np.array(tables or [[0] * most], np.int64).reshape(shape)
        return np.array(which, np.int64), found


def _why(system: System, terms: Collection[Term]) -> str:
    """Return which sorts are not interchangeable because a member of them is named."""
    named = system.named.union(*map(named_sorts, terms))
    found = sorted(sort.name for sort in named if not sort.ordered)
    return f": a member of {', '.join(found)} is named by its number" if found else ""


def _flat(dims: tuple[int, ...], at: tuple[int, ...]) -> int:
    flat = 0
    for dim, index in zip(dims, at, strict=True):
        flat = flat * dim + index
    return flat
