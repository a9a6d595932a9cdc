"""What each event reads and writes, element by element, with its members filled in.

Sets of elements are Python integers, a bit for each element of the state.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.substitution import replace_leaves, substitute
from onceproof.model.language.terms.types import MemberType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System


@dataclass(frozen=True)
class GroundEvent:
    """An action or fault for certain members, without variables."""

    conditions: tuple[t.Term, ...]
    """The parts of its guard, all of which have to hold."""
    reads: int
    """The elements that decide whether it changes anything, and to what."""
    writes: int
    """The elements that it may change."""
    values: dict[int, t.Term]
    """What each element that it may change holds afterwards, in terms of before."""
    fault: bool
    """Whether it is a fault."""

    @property
    def touches(self) -> int:
        """The elements that it reads or may change."""
        return self.reads | self.writes


class Footprints:
    """The elements that the terms of a system speak of."""

    def __init__(self, system: System) -> None:
        """Number the elements of the state."""
        self._system = system
        self._first: dict[str, int] = {}
        self._dims: dict[str, tuple[int, ...]] = {}
        number = 0
        for field in system.fields:
            self._first[field.path] = number
            self._dims[field.path] = tuple(system.sizes[s] for s in field.sorts)
            number += prod(self._dims[field.path])
        self._ground: dict[t.Term, t.Term] = {}
        self._reads: dict[t.Term, int] = {}

    def events(self) -> list[GroundEvent]:
        """Return all events, in the order in which the search numbers them."""
        return [
            self._event(action, members)
            for action in self._system.actions
            for members in self._tuples(action.params)
        ]

    def ground(self, term: t.Term) -> t.Term:
        """Return a term that means the same, without quantifiers."""
        if term not in self._ground:
            self._ground[term] = self._grounded(term)
        return self._ground[term]

    def reads(self, term: t.Term) -> int:
        """Return the elements that the value of a term can depend on."""
        if term not in self._reads:
            found = 0
            for part in t.subterms(self.ground(term)):
                if isinstance(part, t.Get):
                    found |= self.elements(part)
            self._reads[term] = found
        return self._reads[term]

    def elements(self, get: t.Get) -> int:
        """Return the elements that ``get`` may read.

        An index that is no constant, or that lies outside of the field, may stand for
        any member: the native code moves it inside.
        """
        first, dims = self._first[get.field], self._dims[get.field]
        place = _place(get, dims)
        if place is None:
            return ((1 << prod(dims)) - 1) << first
        return 1 << (first + place)

    def may_become(self, event: GroundEvent, term: t.Term, *, value: bool) -> bool:
        """Return whether an event might give a claim this value. It errs towards yes.

        The answer is no where the event changes nothing that the claim reads, and
        where what the event writes, put in place of what the claim reads, leaves the
        constant that is the other value. The second is asked only if each element
        that the claim reads is known by its number.
        """
        if not event.writes & self.reads(term):
            return False
        ground = self.ground(term)
        for part in t.subterms(ground):
            if isinstance(part, t.Get) and self._vague(part):
                return True
        # By element and not by term: terms for one element can differ in their types.
        after = replace_leaves(
            ground,
            lambda leaf: (
                event.values.get(self.elements(leaf))
                if isinstance(leaf, t.Get)
                else None
            ),
        )
        return not isinstance(after, t.Const) or bool(after.value) is value

    def _vague(self, get: t.Get) -> bool:
        return _place(get, self._dims[get.field]) is None

    def _event(self, action: ActionTerm, members: dict[t.Var, t.Term]) -> GroundEvent:
        guard = self._with(action.guard, members)
        writes = 0
        values: dict[int, t.Term] = {}
        reads = self.reads(guard)
        for path in action.written:
            for get in self._elements_of(path):
                after = self._with(action.after(get), members)
                if after == get:
                    continue
                writes |= self.elements(get)
                values[self.elements(get)] = after
                reads |= self.reads(after)
        return GroundEvent(t.conjuncts(guard), reads, writes, values, action.fault)

    def _with(self, term: t.Term, members: dict[t.Var, t.Term]) -> t.Term:
        return self.ground(substitute(term, members))

    def _elements_of(self, path: str) -> Iterator[t.Get]:
        field = self._system.field(path)
        sorts = [MemberType(sort) for sort in field.sorts]
        for at in itertools.product(*map(range, self._dims[path])):
            indices = (t.Const(i, s) for i, s in zip(at, sorts, strict=True))
            yield t.Get(path, tuple(indices), field.type)

    def _tuples(self, variables: tuple[t.Var, ...]) -> Iterator[dict[t.Var, t.Term]]:
        sizes = [range(self._system.sizes[v.type.sort]) for v in variables]
        for at in itertools.product(*sizes):
            yield {v: t.Const(i, v.type) for v, i in zip(variables, at, strict=True)}

    def _grounded(self, term: t.Term) -> t.Term:
        if isinstance(term, t.Quantified):
            bodies = [self._with(term.body, each) for each in self._tuples(term.vars)]
            if isinstance(term, t.ForAll):
                return t.conjunction(bodies)
            if isinstance(term, t.Exists):
                return t.disjunction(bodies)
            total: t.Term = t.integer(0)
            for body in bodies:
                total = t.addition(total, body)
            return total
        inner = tuple(self.ground(child) for child in t.children(term))
        return t.rebuild(term, inner) if inner != t.children(term) else term


def exclusive(one: GroundEvent, other: GroundEvent) -> bool:
    """Return whether the guards of two events never hold in the same state.

    It errs towards no. They do not where one asks for what the other denies, or where
    they ask for different values of the same term.
    """
    conditions = set(other.conditions)
    if any(t.negation(condition) in conditions for condition in one.conditions):
        return True
    asked = _asked(other)
    return any(
        value != asked[term] for term, value in _asked(one).items() if term in asked
    )


def accord(one: GroundEvent, other: GroundEvent) -> bool:
    """Return whether two events commute wherever both change something.

    Neither then changes what decides whether the other changes something, and to what.
    """
    apart = not (one.writes & other.touches or other.writes & one.touches)
    return apart or exclusive(one, other)


def _asked(event: GroundEvent) -> dict[t.Term, object]:
    return {
        c.left: c.right.value
        for c in event.conditions
        if isinstance(c, t.Eq) and isinstance(c.right, t.Const)
    }


def _place(get: t.Get, dims: tuple[int, ...]) -> int | None:
    """Return which element of its field ``get`` reads, or None if that may vary."""
    place = 0
    for index, dim in zip(get.indices, dims, strict=True):
        if not isinstance(index, t.Const) or not 0 <= t.number_of(index) < dim:
            return None
        place = place * dim + t.number_of(index)
    return place
