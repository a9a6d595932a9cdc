"""The values of terms in many states at once: numpy arrays, a row for each state."""

from __future__ import annotations

import itertools
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

import numpy as np

from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from onceproof.model.language.interpreter import State
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.tracing.system import System

Known: TypeAlias = "dict[t.Var, int]"


class ManyStates:
    """States of one system, in which terms are evaluated all at once."""

    def __init__(
        self, fields: Mapping[str, NDArray[np.int64]], sizes: Mapping[Sort, int]
    ) -> None:
        """Take states as ``reached`` returns them."""
        self._fields = fields
        self._sizes = sizes
        self.count = len(next(iter(fields.values())))
        self._rows = np.arange(self.count)
        self._known: dict[tuple[t.Term, tuple[int, ...]], Any] = {}

    def truth(self, term: t.Term, known: Known) -> NDArray[np.bool_]:
        """Return in which of the states a claim holds, for some members."""
        free = tuple(known[v] for v in sorted(known, key=lambda v: v.name))
        key = (term, free)
        found = self._known.get(key)
        if found is None:
            value = self._value(term, known)
            found = np.broadcast_to(np.asarray(value, bool), (self.count,))
            self._known[key] = found
        return found

    def members(self, variables: Iterable[t.Var]) -> Iterator[Known]:
        """Yield all assignments of members to variables."""
        named = tuple(variables)
        ranges = [range(self._sizes[v.type.sort]) for v in named]
        for each in itertools.product(*ranges):
            yield dict(zip(named, each, strict=True))

    def _value(self, term: t.Term, known: Known) -> Any:
        match term:
            case t.Const():
                return _code(term)
            case t.Var():
                return known[term]
            case t.Get():
                return self._get(term, known)
            case t.Not():
                return np.logical_not(self._value(term.body, known))
            case t.And():
                return _all(self._value(p, known) for p in term.parts)
            case t.Or():
                return _any(self._value(p, known) for p in term.parts)
            case t.Eq():
                return np.equal(
                    self._value(term.left, known), self._value(term.right, known)
                )
            case t.Less():
                return np.less(
                    self._value(term.left, known), self._value(term.right, known)
                )
            case t.Add():
                return np.add(
                    self._value(term.left, known), self._value(term.right, known)
                )
            case t.Sub():
                return np.subtract(
                    self._value(term.left, known), self._value(term.right, known)
                )
            case t.Ite():
                return np.where(*(self._value(p, known) for p in t.children(term)))
            case t.ForAll():
                return _all(self._each(term, known))
            case t.Exists():
                return _any(self._each(term, known))
            case t.Sum():
                total: Any = 0
                for value in self._each(term, known):
                    total = np.add(total, value)
                return total
            case _:
                assert_never(term)

    def _each(self, term: t.Quantifier, known: Known) -> Iterator[Any]:
        for more in self.members(term.vars):
            yield self._value(term.body, known | more)

    def _get(self, term: t.Get, known: Known) -> Any:
        values = self._fields[term.field]
        if not term.indices:
            return values
        at = [
            np.clip(self._value(index, known), 0, size - 1)
            for index, size in zip(term.indices, values.shape[1:], strict=True)
        ]
        return values[(self._rows, *at)]


def of_states(system: System, states: Iterable[State]) -> ManyStates:
    """Return plain states of a system as many, to evaluate terms in."""
    listed = list(states)
    fields: dict[str, NDArray[np.int64]] = {}
    begin = 0
    for field in system.fields:
        dims = [system.sizes[s] for s in field.sorts]
        end = begin + int(np.prod(dims, dtype=int))
        codes = [
            [
                encode(field.type, v) if isinstance(v, Enum) else int(v)
                for v in state[begin:end]
            ]
            for state in listed
        ]
        fields[field.path] = np.array(codes, np.int64).reshape(len(listed), *dims)
        begin = end
    return ManyStates(fields, system.sizes)


def _code(term: t.Const) -> int:
    return (
        encode(term.type, term.value)
        if isinstance(term.value, Enum)
        else int(term.value)
    )


def _all(values: Iterable[Any]) -> Any:
    found: Any = True
    for value in values:
        found = np.logical_and(found, value)
    return found


def _any(values: Iterable[Any]) -> Any:
    found: Any = False
    for value in values:
        found = np.logical_or(found, value)
    return found
