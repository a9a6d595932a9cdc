"""The least and the greatest of some integers, and whether whole messages are equal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from onceproof.model.errors import ModelError
from onceproof.model.language.expressions.choices import extreme
from onceproof.model.language.expressions.logic import all_of, if_else
from onceproof.model.language.expressions.named_tuples import pairs_of
from onceproof.model.language.expressions.symbolic_value import (
    Symbolic,
    alike,
    lift,
    symbolic,
)
from onceproof.model.language.source_location import here
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import is_integer


def min_of(first: int | Iterable[int], *others: int) -> int:
    """Return the least of some integers; ``min_of(n + 1, 3)`` stops counting at 3.

    It takes integers, or one generator of integers with bounds.
    """
    if not others and _is_generator(first):
        return extreme(cast("Iterable[int]", first), "min_of", least=True)
    found = _whole(cast("int", first))
    for other in others:
        found = if_else(_whole(other) < found, other, found)
    return found


def max_of(first: int | Iterable[int], *others: int) -> int:
    """Return the greatest of some integers, or of one generator of integers."""
    if not others and _is_generator(first):
        return extreme(cast("Iterable[int]", first), "max_of", least=False)
    found = _whole(cast("int", first))
    for other in others:
        found = if_else(found < _whole(other), other, found)
    return found


def _is_generator(value: object) -> bool:
    return not isinstance(value, Symbolic | int) and isinstance(value, Iterable)


def _whole(value: int) -> int:
    """Return an integer; refuse what is none, as when a model is traced."""
    type_ = t.sort_of(lift(value))
    if not is_integer(type_):
        message = f"a whole number is needed here, not {type_}"
        raise ModelError(message, where=here())
    return value


def equal(one: object, other: object) -> bool:
    """Hold when two values are equal, or two records, or messages, in all parts."""
    if isinstance(one, tuple) or isinstance(other, tuple):
        pairs = pairs_of(one, other)
        return all_of(*(equal(mine, its) for mine, its in pairs))
    left, right = alike(lift(one), lift(other))
    if symbolic([one, other]):
        return cast("bool", Symbolic(t.equality(left, right)))
    return one == other


def goes_before(one: object, other: object) -> bool:
    """Return whether a number is less than another, or a member comes before another.

    It is for sorting alone: members of a sort without order have none that means a
    thing.
    """
    if not symbolic([one, other]):
        return int(cast("int", one)) < int(cast("int", other))
    return cast("bool", Symbolic(t.less(*alike(lift(one), lift(other)))))
