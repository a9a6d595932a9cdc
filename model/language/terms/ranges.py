"""Bounds of integer terms, so that an overflow is found when a model is traced."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias, assert_never

from onceproof.model.language.terms.terms import (
    Add,
    And,
    Const,
    Eq,
    Exists,
    ForAll,
    Get,
    Ite,
    Less,
    Not,
    Or,
    Sub,
    Sum,
    Term,
    Var,
    children,
    negation,
)
from onceproof.model.language.terms.types import IntType, MemberType, lowest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.model.language.sorts import Sort

Range: TypeAlias = tuple[int, int]


class Ranges:
    """What is known of integer terms where some conditions hold.

    ``bounds`` is sound: the value of the term lies in the range it answers
    whenever every assumed condition holds.
    """

    def __init__(self, sizes: Mapping[Sort, int]) -> None:
        """Know nothing but the types."""
        self.sizes = sizes
        self._known: dict[Term, Range] = {}

    def assuming(self, condition: Term) -> Ranges:
        """Know what ``condition`` says as well."""
        wiser = Ranges(self.sizes)
        wiser._known = dict(self._known)
        wiser._learn(condition)
        return wiser

    def bounds(self, term: Term) -> Range:
        """Return the least and the greatest value that ``term`` can have."""
        low, high = self._structural(term)
        known = self._known.get(term)
        return (low, high) if known is None else _meet((low, high), known)

    @property
    def impossible(self) -> bool:
        """Whether what is assumed cannot hold: something has no value at all."""
        return any(low > high for low, high in self._known.values())

    def _structural(self, term: Term) -> Range:
        match term:
            case Const():
                number = 0 if isinstance(term.value, Enum) else int(term.value)
                return (number, number)
            case Get() | Var():
                if isinstance(term.type, IntType):
                    return (term.type.low, term.type.high)
                if isinstance(term.type, MemberType):
                    return (lowest(term.type), self.sizes[term.type.sort] - 1)
                return (0, 1)
            case Add():
                (a, b), (c, d) = self.bounds(term.left), self.bounds(term.right)
                return (a + c, b + d)
            case Sub():
                (a, b), (c, d) = self.bounds(term.left), self.bounds(term.right)
                return (a - d, b - c)
            case Ite():
                (a, b) = self.assuming(term.test).bounds(term.then)
                (c, d) = self.assuming(negation(term.test)).bounds(term.orelse)
                return (a, b) if c > d else (c, d) if a > b else (min(a, c), max(b, d))
            case Sum():
                (a, b) = self.bounds(term.body)
                times = 1
                for var in term.vars:
                    times *= self.sizes[var.type.sort]
                return (a * times, b * times)
            case Not() | And() | Or() | Eq() | Less() | ForAll() | Exists():
                return (0, 1)
            case _:
                assert_never(term)

    def _learn(self, condition: Term) -> None:
        if isinstance(condition, And):
            for part in condition.parts:
                self._learn(part)
        elif isinstance(condition, Less):
            self._order(condition.left, condition.right, gap=1)
        elif isinstance(condition, Not) and isinstance(condition.body, Less):
            self._order(condition.body.right, condition.body.left, gap=0)
        elif isinstance(condition, Eq) and _is_number(condition.left):
            self._order(condition.left, condition.right, gap=0)
            self._order(condition.right, condition.left, gap=0)
        elif isinstance(condition, Not) and isinstance(condition.body, Eq):
            self._apart(condition.body.left, condition.body.right)
            self._apart(condition.body.right, condition.body.left)

    def _order(self, small: Term, large: Term, *, gap: int) -> None:
        """Learn ``small + gap <= large``."""
        _, top = self.bounds(large)
        bottom, _ = self.bounds(small)
        self._at_most(small, top - gap)
        self._at_least(large, bottom + gap)

    def _apart(self, term: Term, other: Term) -> None:
        """Learn ``term != other`` where that trims an end of the range."""
        if not _is_number(term):
            return
        low, high = self.bounds(other)
        mine = self.bounds(term)
        if low == high == mine[0]:
            self._at_least(term, low + 1)
        if low == high == mine[1]:
            self._at_most(term, high - 1)

    def _at_most(self, term: Term, high: int) -> None:
        while isinstance(term, Add | Sub) and isinstance(term.right, Const):
            shift = int(term.right.value)  # type: ignore[arg-type]
            high += shift if isinstance(term, Sub) else -shift
            term = term.left
        self._known[term] = _meet(self.bounds(term), (-(2**62), high))

    def _at_least(self, term: Term, low: int) -> None:
        while isinstance(term, Add | Sub) and isinstance(term.right, Const):
            shift = int(term.right.value)  # type: ignore[arg-type]
            low += shift if isinstance(term, Sub) else -shift
            term = term.left
        self._known[term] = _meet(self.bounds(term), (low, 2**62))


def widest(term: Term, sizes: Mapping[Sort, int]) -> int:
    """Return the greatest absolute value of any integer inside a term."""
    ranges = Ranges(sizes)
    most = 0
    found: dict[int, Range] = {}

    def bounds(part: Term) -> Range:
        nonlocal most
        for child in children(part):
            if id(child) not in found:
                found[id(child)] = bounds(child)
        one = _combined(part, found, ranges)
        most = max(most, abs(one[0]), abs(one[1]))
        return one

    bounds(term)
    return most


def _combined(part: Term, found: Mapping[int, Range], ranges: Ranges) -> Range:
    """Bound a term by the bounds of those directly inside it, whatever holds."""
    inner = [found[id(child)] for child in children(part)]
    match part:
        case Add():
            (a, b), (c, d) = inner
            return (a + c, b + d)
        case Sub():
            (a, b), (c, d) = inner
            return (a - d, b - c)
        case Ite():
            (a, b), (c, d) = inner[1:]
            return (min(a, c), max(b, d))
        case Sum():
            times = math.prod(ranges.sizes[var.type.sort] for var in part.vars)
            (a, b) = inner[0]
            return (a * times, b * times)
        case Const() | Var() | Get():
            return ranges.bounds(part)
        case Not() | And() | Or() | Eq() | Less() | ForAll() | Exists():
            return ranges.bounds(part)
        case _:
            assert_never(part)


def _is_number(term: Term) -> bool:
    match term:
        case Const() | Var() | Get():
            return isinstance(term.type, IntType | MemberType)
        case Add() | Sub() | Sum() | Ite():
            return True
        case Not() | And() | Or() | Eq() | Less() | ForAll() | Exists():
            return False
        case _:
            assert_never(term)


def _meet(one: Range, other: Range) -> Range:
    return (max(one[0], other[0]), min(one[1], other[1]))
