"""Terms are put in place at once: what is put in place is not replaced again."""

from __future__ import annotations

import pytest

from onceproof.model.language import Sort
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.substitution import (
    free_variables,
    replace_leaves,
    substitute,
)
from onceproof.model.language.terms.types import BOOL, MemberType

THING = MemberType(Sort("thing"))
X, Y, Z = (t.Var(name, THING) for name in "xyz")
A, B = (t.Get(name, (), BOOL) for name in "ab")


def test_two_variables_change_places():
    """Each is replaced by the other, and not back again."""
    term = t.Eq(X, t.Ite(t.TRUE, Y, X))

    assert substitute(term, {X: Y, Y: X}) == t.Eq(Y, X)


def test_a_leaf_that_simplification_leaves_is_not_replaced_again():
    """Of a choice that is plain to see a bare element is left: it is the new one."""
    swapped = {A: B, B: A}
    choice = t.Ite(A, t.Ite(B, B, B), A)

    found = replace_leaves(t.And((A, t.TRUE)), swapped.get)

    assert found == B
    assert replace_leaves(choice, swapped.get) == t.choice(B, A, B)
    assert replace_leaves(t.Ite(t.TRUE, A, B), swapped.get) == B


def test_an_element_is_asked_about_with_its_indices_replaced():
    """The element at x becomes the one at y, and only then is asked about."""
    at_x, at_y = (t.Get("row", (v,), BOOL) for v in (X, Y))

    found = replace_leaves(t.Not(at_x), {X: Y, at_y: A, at_x: B}.get)

    assert found == t.Not(A)


@pytest.mark.parametrize("values", [{X: Y}, {Y: Z}])
def test_no_bound_variable_catches_one_from_outside(values):
    """A variable that would mean something else where it is put is an error."""
    term = t.Exists((Y,), t.Eq(X, Y))

    with pytest.raises(ValueError, match="y is bound here"):
        substitute(term, values)


def test_what_is_bound_inside_a_value_does_not_count():
    """A value that binds the name itself brings none of it from outside."""
    value = t.Ite(t.Exists((Y,), t.Eq(Y, Z)), Z, Z)

    assert free_variables(value) == {Z}
    substitute(t.ForAll((Y,), t.Eq(X, Y)), {X: value})
