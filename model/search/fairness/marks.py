"""Marked members: states together with some members, brought to one form as one.

Symmetry erases which member is which. What is asked of a member, such as the one that a
claim names or that an event is for, is asked of a member that bears a mark: marks are
fields of the state that no step changes, and are renamed with everything else.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.language.fields import Field
from onceproof.model.language.sorts import NO_MEMBER
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import BOOL, IntType, MemberType
from onceproof.model.search.visited_states import VisitedStates

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from onceproof.model.language.interpreter import State
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.queries import SearchQuery
    from onceproof.model.search.states.layout import Layout

    Words = NDArray[np.int64]

NUMBER = "a number#"
"""The path of the field that holds a number beside the marks."""


def mark(number: int) -> str:
    """Return the path of a field of marks; no field of a protocol has such a name."""
    return f"a mark#{number}"


class MarkedStates:
    """States of a system with marks: ``graph`` holds them, each orbit once."""

    def __init__(
        self,
        system: System,
        marks: Sequence[Sort],
        *,
        numbers: int = 0,
        questions: Sequence[SearchQuery] = (),
    ) -> None:
        """Compile the system with a mark for each of ``marks``, and a number.

        The number goes up to ``numbers``. Raises ``UsageError`` or ``TooLargeError``
        where the state has no room for them.
        """
        self.marks = tuple(marks)
        more = [
            Field(mark(n), BOOL, (sort,), initial=False, volatile=False)
            for n, sort in enumerate(marks)
        ]
        if numbers:
            kind = IntType(0, numbers)
            more.append(Field(NUMBER, kind, (), initial=0, volatile=False))
        wider = replace(system, fields=(*system.fields, *more))
        self.graph = VisitedStates(wider, questions, symmetry=True)
        self._numbered = bool(numbers)

    def bare(self, rows: Words, layout: Layout) -> Words:
        """Return the states without what ``layout`` has no field for."""
        return _moved(rows, self.graph.layout, layout)

    def marked(
        self,
        rows: Words,
        layout: Layout,
        members: Mapping[int, int],
        *,
        number: int = 0,
    ) -> Words:
        """Return canonical rows for states of another layout, with these marks.

        ``members`` says which member has a mark. Marks that the other layout has too
        are kept.
        """
        made = _moved(rows, layout, self.graph.layout)
        for which, member in members.items():
            word, shift = self.graph.layout.placements[mark(which)].spot(member)
            made[:, word] |= 1 << shift
        if number:
            word, shift = self.graph.layout.placements[NUMBER].spot(0)
            made[:, word] |= number << shift
        if self.graph.symmetry is not None:
            self.graph.symmetry.reduce(made, len(made))
        return made

    def packed(self, state: State, members: Sequence[int]) -> Words:
        """Return the canonical row of a plain state with each mark at a member."""
        values = [
            place == member
            for sort, member in zip(self.marks, members, strict=True)
            for place in range(self.graph.system.sizes[sort])
        ]
        rows = np.array([self.graph.layout.pack((*state, *values))], np.int64)
        if self.graph.symmetry is not None:
            self.graph.symmetry.reduce(rows, 1)
        return rows

    def member(self, rows: Words, which: int) -> Words:
        """Return which member bears a mark in each row; -1 where none does."""
        place = self.graph.layout.placements[mark(which)]
        found = np.full(len(rows), -1, np.int64)
        for member in range(place.count):
            word, shift = place.spot(member)
            found[(rows[:, word] >> shift) & 1 == 1] = member
        return found

    def number(self, rows: Words) -> Words:
        """Return the number beside the marks in each row."""
        place = self.graph.layout.placements[NUMBER]
        word, shift = place.spot(0)
        found: Words = (rows[:, word] >> shift) & place.mask
        return found


def placements(
    marks: Sequence[Sort], sizes: Mapping[Sort, int]
) -> Iterable[tuple[int, ...]]:
    """Yield the ways to mark members, a different one of its sort for each mark."""
    for members in itertools.product(*(range(sizes[sort]) for sort in marks)):
        if len(set(zip(marks, members, strict=True))) == len(marks):
            yield members


def members_named(
    terms: Iterable[t.Term], sorts: Iterable[Sort]
) -> list[tuple[Sort, int]]:
    """List the members of some sorts that terms name, each once."""
    wanted = set(sorts)
    found = {
        (part.type.sort, t.number_of(part)): None
        for term in terms
        for part in t.subterms(term)
        if isinstance(part, t.Const)
        and isinstance(part.type, MemberType)
        and part.type.sort in wanted
        and part.value != NO_MEMBER
    }
    return list(found)


def of_marked(term: t.Term, named: Sequence[tuple[Sort, int]]) -> t.Term:
    """Return the claim that ``term`` makes of the members it names, of marked ones."""
    variables = tuple(
        t.Var(f"marked#{n}", MemberType(sort)) for n, (sort, _) in enumerate(named)
    )
    by_member: dict[tuple[Sort, int], t.Term] = dict(zip(named, variables, strict=True))

    def changed(part: t.Term) -> t.Term:
        if isinstance(part, t.Const) and isinstance(part.type, MemberType):
            return by_member.get((part.type.sort, t.number_of(part)), part)
        inner = tuple(map(changed, t.children(part)))
        return t.rebuild(part, inner) if inner != t.children(part) else part

    marks = [t.Get(mark(n), (var,), BOOL) for n, var in enumerate(variables)]
    return t.quantified(t.Exists, variables, t.conjunction([*marks, changed(term)]))


def _moved(rows: Words, old: Layout, new: Layout) -> Words:
    """Pack rows anew; fields that the old layout has not are zero."""
    made = np.zeros((len(rows), new.words), np.int64)
    for path, place in old.placements.items():
        other = new.placements.get(path)
        for element in range(place.count if other else 0):
            word, shift = place.spot(element)
            to, by = other.spot(element)  # type: ignore[union-attr]
            made[:, to] |= ((rows[:, word] >> shift) & place.mask) << by
    return made
