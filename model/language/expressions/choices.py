"""The first or last member that satisfies a condition, and extremes over members."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import TYPE_CHECKING, Any, cast

from onceproof.model.errors import ModelError
from onceproof.model.language.expressions.logic import (
    Group,
    gathered_groups,
    if_else,
    plain_values,
)
from onceproof.model.language.expressions.symbolic_value import (
    Symbolic,
    lift,
    plain_number,
)
from onceproof.model.language.sorts import Members, nobody
from onceproof.model.language.source_location import here
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.ranges import Ranges
from onceproof.model.language.terms.types import is_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onceproof.model.language.sorts import Member

MOST_STEPS = 64
"""How far apart the least and the greatest value may be that are compared."""


def first_of(members: Iterable[Member], condition: Callable[[Member], bool]) -> Member:
    """Return the first member for which a condition holds, or nobody.

    ``first_of(self.SLOT, lambda s: self.free[s])`` goes through an ordered sort.
    """
    return _nearest(members, condition, "first_of", backwards=False)


def last_of(members: Iterable[Member], condition: Callable[[Member], bool]) -> Member:
    """Return the last member for which a condition holds, or nobody."""
    return _nearest(members, condition, "last_of", backwards=True)


def _nearest(
    members: Iterable[Member],
    condition: Callable[[Member], bool],
    name: str,
    *,
    backwards: bool,
) -> Member:
    if not isinstance(members, Members):
        message = (
            f"{name} takes a sort and a condition, as "
            f"{name}(self.SLOT, lambda s: self.free[s])"
        )
        raise ModelError(message, where=here())
    found = nobody
    listed = members.in_order(name)
    for member in listed if backwards else reversed(listed):
        found = if_else(condition(member), member, found)
    return found


def extreme(values: Iterable[int], name: str, *, least: bool) -> int:
    """Return the least or the greatest of the integers of a generator.

    It is worked out from how many bounds the values are all beyond, so that no member
    is named and it means the same for every number of members.
    """
    groups = gathered_groups(values)
    plain = plain_values(groups)
    if plain is not None:
        numbers = [plain_number(value) for value in plain]
        if not numbers:
            message = f"{name}() needs a value; this generator has none"
            raise ModelError(message, where=here())
        return min(numbers) if least else max(numbers)
    low, high = _bounds(groups, name)
    found = t.integer(low if least else high)
    for bound in range(low, high) if least else range(low + 1, high + 1):
        step = t.choice(_all_beyond(groups, bound, least=least), _ONE, _NONE)
        found = cast("Any", t.addition if least else t.subtraction)(found, step)
    return cast("int", Symbolic(found))


_MANY = 2**20
"""A size for every sort: how many members there are bounds no value."""

_ONE, _NONE = t.integer(1), t.integer(0)


def _all_beyond(groups: list[Group], bound: int, *, least: bool) -> t.Term:
    """Say that all values are greater than a bound, or all are less."""
    limit = t.integer(bound)

    def beyond(value: object) -> t.Term:
        pair = (limit, lift(value)) if least else (lift(value), limit)
        return t.less(*pair)

    return t.conjunction(
        t.quantified(t.ForAll, variables, t.conjunction(map(beyond, values)))
        for variables, values in groups
    )


def _bounds(groups: list[Group], name: str) -> tuple[int, int]:
    """Return the least and the greatest number that a value can be."""
    ranges, found = Ranges(defaultdict(lambda: _MANY)), []
    for value in itertools.chain.from_iterable(values for _, values in groups):
        term = lift(value)
        if not is_integer(t.sort_of(term)):
            message = f"{name} takes whole numbers, not {t.sort_of(term)}"
            raise ModelError(message, where=here())
        found.append(ranges.bounds(term))
    low, high = min(one for one, _ in found), max(one for _, one in found)
    if high - low > MOST_STEPS:
        message = (
            f"{name} over members takes numbers with bounds, of at most "
            f"{MOST_STEPS + 1} values, such as a state, and no members or counts; see "
            "first_of and last_of"
        )
        raise ModelError(message, where=here())
    return low, high
