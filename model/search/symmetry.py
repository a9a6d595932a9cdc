"""Symmetry: one state represents all that differ only in the names of members.

Members of a sort that is not ordered are interchangeable. Where each field has at
most one index of such a sort, a state is a bag of its members' tuples, and sorting
the members by their whole tuple gives the representative. Where a field has more,
every renaming is tried, and the least packed state is the representative.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.errors import UsageError
from onceproof.model.language.terms.substitution import named_sorts
from onceproof.model.language.terms.types import MemberType
from onceproof.model.search.renamings import (
    MOST_RENAMINGS,
    count_renamings,
    interchangeable,
    position,
    renaming_tables,
)
from onceproof.model.search.states import canonical_rows
from onceproof.model.search.states.layout import WORD_BITS

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.terms.terms import Term
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.states.layout import Layout, Placement

    Words = NDArray[np.int64]

_UNASKED = np.empty(0, np.int64)


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
            canonical_rows.sort_members(rows, number, *table)
        if self.renaming:
            canonical_rows.least_renaming(rows, number, *(*self.renaming, _UNASKED))


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
                    place.spot(position(place.dims, (*other[:at], m, *other[at:])))
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
        return renaming_tables(layout, self.sorts, self._sizes)


def _why(system: System, terms: Collection[Term]) -> str:
    """Return which sorts are not interchangeable because a member of them is named."""
    named = system.named.union(*map(named_sorts, terms))
    found = sorted(sort.name for sort in named if not sort.ordered)
    return f": a member of {', '.join(found)} is named by its number" if found else ""
