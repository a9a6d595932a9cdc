"""The bounds of a number hold in every state in which the assumed conditions hold."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onceproof.model.language.sorts import Sort
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.ranges import Ranges, widest
from onceproof.model.language.terms.types import BOOL, IntType, MemberType

THING = Sort("thing")
SIZES = {THING: 3}
ONE = t.Var("one", MemberType(THING))
A = t.Get("a", (), IntType(-2, 3))
B = t.Get("b", (), IntType(0, 2))
FLAG = t.Get("flag", (), BOOL)
EACH = t.Get("each", (ONE,), IntType(-1, 1))
ALL = [
    {"a": a, "b": b, "flag": flag, "each": each}
    for a in range(-2, 4)
    for b in range(3)
    for flag in (False, True)
    for each in itertools.product((-1, 1), repeat=3)
]


def worth(term, state, known):
    """Work a term out by itself: nothing of the language's own readers is used."""
    of = lambda one: worth(one, state, known)  # noqa: E731
    match term:
        case t.Const():
            return term.value
        case t.Var():
            return known[term]
        case t.Get():
            held = state[term.field]
            return held[of(term.indices[0])] if term.indices else held
        case t.Add():
            return of(term.left) + of(term.right)
        case t.Sub():
            return of(term.left) - of(term.right)
        case t.Ite():
            return of(term.then) if of(term.test) else of(term.orelse)
        case t.Sum():
            inner = ({**known, ONE: n} for n in range(3))
            return sum(worth(term.body, state, one) for one in inner)
        case t.Less():
            return of(term.left) < of(term.right)
        case t.Eq():
            return of(term.left) == of(term.right)
        case t.Not():
            return not of(term.body)
        case t.And():
            return all(map(of, term.parts))
    raise AssertionError(term)


def constants():
    return st.integers(-3, 3).map(lambda n: t.Const(n, IntType(n, n)))


def numbers(*, inside=False):
    leaves = [st.just(A), st.just(B), constants()]
    leaves += [st.just(EACH)] if inside else []

    def larger(smaller):
        pair = st.tuples(smaller, smaller)
        made = [pair.map(lambda p: t.Add(*p)), pair.map(lambda p: t.Sub(*p))]
        made += [st.tuples(conditions(smaller), pair).map(lambda c: t.Ite(c[0], *c[1]))]
        return st.one_of(made)

    return st.recursive(st.one_of(leaves), larger, max_leaves=4)


def sums():
    return numbers(inside=True).map(lambda body: t.Sum((ONE,), body))


def conditions(of):
    pair = st.tuples(of, of)
    simple = st.one_of(
        st.just(FLAG), pair.map(lambda p: t.Less(*p)), pair.map(lambda p: t.Eq(*p))
    )
    one = st.one_of(simple, simple.map(t.Not))
    return st.one_of(one, st.lists(one, min_size=2, max_size=2).map(_both))


def _both(parts):
    return t.And(tuple(parts))


@settings(max_examples=400, deadline=None, derandomize=True)
@given(conditions(numbers()), st.one_of(numbers(), sums()))
def test_no_value_lies_outside_of_the_bounds(condition, term):
    """Whatever is learned from a condition is true wherever it holds."""
    low, high = Ranges(SIZES).assuming(condition).bounds(term)
    most = widest(term, SIZES)

    for state in ALL:
        value = worth(term, state, {})
        assert -most <= value <= most
        if worth(condition, state, {}):
            assert low <= value <= high, state


@pytest.mark.parametrize(
    ("condition", "term", "bounds"),
    [
        (t.Less(A, B), A, (-2, 1)),
        (t.Less(A, B), B, (0, 2)),
        (t.Not(t.Less(A, B)), A, (0, 3)),
        (t.Eq(A, B), A, (0, 2)),
        (t.Not(t.Eq(A, t.Const(3, IntType(3, 3)))), A, (-2, 2)),
        (t.Not(t.Eq(A, t.Const(-2, IntType(-2, -2)))), A, (-1, 3)),
        (t.Less(t.Add(A, t.Const(1, IntType(1, 1))), B), A, (-2, 0)),
        (t.TRUE, t.Sub(A, B), (-4, 3)),
        (t.TRUE, t.Sum((ONE,), EACH), (-3, 3)),
        (t.TRUE, t.Ite(t.Less(A, B), A, t.Const(0, IntType(0, 0))), (-2, 1)),
    ],
    ids=str,
)
def test_a_guard_that_bounds_a_value_is_enough(condition, term, bounds):
    """The bounds are as narrow as what the condition says of one comparison."""
    assert Ranges(SIZES).assuming(condition).bounds(term) == bounds
