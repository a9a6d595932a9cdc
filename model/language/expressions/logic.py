"""Quantifiers, connectives and choices, over plain and symbolic values alike.

Each function here takes plain Python values and returns a plain value, or takes
symbolic values (while a model is traced) and returns a symbolic one. Nothing else
in a model needs to know which world it runs in.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from onceproof.model.language.expressions.named_tuples import pairs_of, put_together
from onceproof.model.language.expressions.symbolic_value import (
    Symbolic,
    alike,
    lift,
    plain_number,
    plain_truth,
    symbolic,
    truth,
    whole,
)
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.binding import gathered

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

Group: TypeAlias = tuple[tuple[t.Var, ...], list[object]]


def _gather(claims: tuple[object, ...]) -> list[Group]:
    """Run the body of a quantifier; give its values by the variables they speak of."""
    if len(claims) != 1 or isinstance(claims[0], bool | Symbolic | int | Enum):
        return [((), list(claims))]
    if not isinstance(claims[0], Iterable):
        lift(claims[0])
    groups: list[Group] = []
    for value, bound in gathered(cast("Iterable[object]", claims[0])):
        if not groups or groups[-1][0] != bound:
            groups.append((bound, []))
        groups[-1][1].append(value)
    return groups


def gathered_groups(values: Iterable[object]) -> list[Group]:
    """Run a generator; give its values by the variables they speak of."""
    return _gather((values,))


def plain_values(groups: list[Group]) -> list[object] | None:
    """Return the values if all of them are plain; None if there is a symbolic one."""
    values = [value for _, some in groups for value in some]
    bound = any(variables for variables, _ in groups)
    return None if bound or symbolic(values) else values


def all_of(*claims: bool | Iterable[bool]) -> bool:
    """Hold when every claim holds; takes claims, or one generator of claims."""
    groups = _gather(claims)
    plain = plain_values(groups)
    if plain is not None:
        truths = [plain_truth(value) for value in plain]
        return all(truths)
    body = t.conjunction(
        t.quantified(t.ForAll, bound, t.conjunction(truth(v) for v in values))
        for bound, values in groups
    )
    return cast("bool", Symbolic(body))


def any_of(*claims: bool | Iterable[bool]) -> bool:
    """Hold when some claim holds; takes claims, or one generator of claims."""
    groups = _gather(claims)
    plain = plain_values(groups)
    if plain is not None:
        truths = [plain_truth(value) for value in plain]
        return any(truths)
    body = t.disjunction(
        t.quantified(t.Exists, bound, t.disjunction(truth(v) for v in values))
        for bound, values in groups
    )
    return cast("bool", Symbolic(body))


def count(claims: Iterable[bool]) -> int:
    """Count the claims of a generator that hold."""
    return _added(claims, lambda claim: if_else(cast("bool", claim), 1, 0))


def total(values: Iterable[int]) -> int:
    """Add up the integers of a generator."""
    return _added(values, lambda value: value)


def _added(given: Iterable[object], number: Callable[[object], object]) -> int:
    """Add up what ``number`` makes of each value."""
    groups = [
        (bound, [number(value) for value in values])
        for bound, values in gathered_groups(given)
    ]
    plain = plain_values(groups)
    if plain is not None:
        return sum(plain_number(value) for value in plain)
    body: t.Term = t.integer(0)
    for bound, values in groups:
        part: t.Term = t.integer(0)
        for value in values:
            part = t.addition(part, whole(value))
        body = t.addition(body, t.quantified(t.Sum, bound, part))
    return cast("int", Symbolic(body))


def not_(claim: bool) -> bool:  # noqa: FBT001 - it is the operand of an operator
    """Hold when ``claim`` does not."""
    if isinstance(claim, Symbolic):
        return cast("bool", Symbolic(t.negation(truth(claim))))
    return not plain_truth(claim)


def implies(given: bool, claim: bool) -> bool:  # noqa: FBT001 - operands
    """Hold when ``claim`` holds or ``given`` does not."""
    return any_of(not_(given), claim)


def if_else(test: bool, then: T, orelse: T) -> T:  # noqa: FBT001 - operand
    """Return ``then`` where ``test`` holds, else ``orelse``; both are evaluated."""
    if isinstance(then, tuple) or isinstance(orelse, tuple):
        pairs = pairs_of(then, orelse)
        parts = [if_else(test, mine, its) for mine, its in pairs]
        return cast("T", put_together([then, orelse], parts))
    if not symbolic([test, then, orelse]):
        return then if plain_truth(test) else orelse
    left, right = alike(lift(then), lift(orelse))
    return cast("T", Symbolic(t.choice(truth(test), left, right)))
