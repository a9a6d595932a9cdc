"""The value of a term in a state, computed in Python from the term alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from onceproof.model.language.terms import terms as t

if TYPE_CHECKING:
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.stores.symbolic_store import FieldWrite
    from onceproof.model.language.terms.types import Value

Values: TypeAlias = "dict[str, dict[tuple[int, ...], Value]]"
"""A state: for each field, by its path, what each of its elements holds."""

Known: TypeAlias = "dict[t.Var, int]"
Worth: TypeAlias = Callable[[Known, Values, Values], Any]
"""Returns the value of a term for members, in a state and in the one after it."""


class Meaning:
    """Evaluates terms over sorts of given sizes. Members are their indices."""

    def __init__(self, sizes: Mapping[Sort, int]) -> None:
        """Evaluate terms for ``sizes``."""
        self._sizes = sizes

    def of(self, term: t.Term) -> Worth:
        """Return a function that evaluates ``term``.

        It raises ``KeyError`` where the term refers to an element that does not exist.
        """
        match term:
            case t.Const():
                value = term.value
                return lambda _known, _now, _after: value
            case t.Var():
                return lambda known, _now, _after: known[term]
            case t.Get():
                return self._get(term)
            case t.Not():
                body = self.of(term.body)
                return lambda *state: not body(*state)
            case t.And():
                parts = [self.of(part) for part in term.parts]
                return lambda *state: all(part(*state) for part in parts)
            case t.Or():
                parts = [self.of(part) for part in term.parts]
                return lambda *state: any(part(*state) for part in parts)
            case t.ForAll() | t.Exists() | t.Sum():
                return self._quantified(term)
            case t.Ite():
                test, then, orelse = map(self.of, t.children(term))
                return lambda *state: (then if test(*state) else orelse)(*state)
            case t.Eq() | t.Less() | t.Add() | t.Sub():
                return self._binary(term)
            case _:
                assert_never(term)

    def _get(self, term: t.Get) -> Worth:
        path, after = term.field, term.after
        indices = [self.of(index) for index in term.indices]

        def read(known: Known, now: Values, then: Values) -> Any:
            place = tuple([int(index(known, now, then)) for index in indices])
            return (then if after else now)[path][place]

        return read

    def _quantified(self, term: t.Quantifier) -> Worth:
        body, each = self.of(term.body), self.members(term.vars)

        def values(known: Known, now: Values, after: Values) -> Any:
            return (body({**known, **more}, now, after) for more in each)

        match term:
            case t.ForAll():
                return lambda *state: all(values(*state))
            case t.Exists():
                return lambda *state: any(values(*state))
            case t.Sum():
                return lambda *state: sum(values(*state))
            case _:
                assert_never(term)

    def _binary(self, term: t.Eq | t.Less | t.Add | t.Sub) -> Worth:
        left, right = self.of(term.left), self.of(term.right)
        match term:
            case t.Eq():
                return lambda *state: left(*state) == right(*state)
            case t.Less():
                return lambda *state: int(left(*state)) < int(right(*state))
            case t.Add():
                return lambda *state: int(left(*state)) + int(right(*state))
            case t.Sub():
                return lambda *state: int(left(*state)) - int(right(*state))
            case _:
                assert_never(term)

    def members(self, variables: tuple[t.Var, ...]) -> list[Known]:
        """List all assignments of members to some variables."""
        ranges = [range(self._sizes[var.type.sort]) for var in variables]
        return [
            dict(zip(variables, each, strict=True))
            for each in itertools.product(*ranges)
        ]

    def effect(
        self, writes: tuple[FieldWrite, ...]
    ) -> Callable[[Known, Values], Values]:
        """Return a function that makes the state after some writes, in their order."""
        made = [
            (
                write.field,
                [self.of(i) for i in (write.vars if write.whole else write.indices)],
                self.of(write.value),
                self.members(write.vars) if write.whole else [{}],
            )
            for write in writes
        ]

        def apply(known: Known, now: Values) -> Values:
            after = {path: dict(elements) for path, elements in now.items()}
            for path, indices, value, each in made:
                for more in each:
                    at = {**known, **more}
                    place = tuple([int(index(at, now, now)) for index in indices])
                    after[path][place] = value(at, now, now)
            return after

        return apply
