"""What the values of a system need in z3: room for integers, and for nobody."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import z3

from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.ranges import Ranges
from onceproof.model.language.terms.types import (
    EnumType,
    IntType,
    MemberType,
    OptionalType,
    Type,
    cardinality,
    is_integer,
    lowest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.tracing.system import System


def width(system: System, claims: Iterable[t.Term]) -> int:
    """Find how many bits hold every integer value of a term, and its sign."""
    ranges = Ranges(system.sizes)
    most = max(system.sizes.values(), default=1)
    for field in system.fields:
        most = max(most, *(abs(end) for end in bounds(field.type, system.sizes)))
    roots = [*claims]
    for action in system.actions:
        roots += [action.guard, *(w.value for w in action.writes)]
        roots += [i for w in action.writes for i in w.indices]
    for term in itertools.chain.from_iterable(map(t.subterms, roots)):
        if is_integer(t.sort_of(term)):
            most = max(most, *(abs(end) for end in ranges.bounds(term)))
    return most.bit_length() + 1


def bounds(type_: Type, sizes: Mapping[Sort, int]) -> tuple[int, int]:
    """Return the least and the largest number by which a value is encoded."""
    if isinstance(type_, IntType):
        return type_.low, type_.high
    if isinstance(type_, MemberType):
        return lowest(type_), sizes[type_.sort] - 1
    return 0, cardinality(type_) - 1


def within(type_: Type, sizes: Mapping[Sort, int], value: Any) -> Any:
    """Say that an encoded value is one of its type."""
    low, high = bounds(type_, sizes)
    if isinstance(type_, EnumType):
        return z3.ULE(value, high)
    return z3.And(value >= low, value <= high)


def with_nobody(system: System, claims: Iterable[t.Term]) -> set[Sort]:
    """Return the sorts that some state or term may hold nobody of."""
    held = {field.type for field in system.fields}
    roots = [*claims, *(term for action in system.actions for term in action.terms)]
    for term in itertools.chain.from_iterable(map(t.subterms, roots)):
        if isinstance(term, t.Const):
            held.add(term.type)
    return {type_.sort for type_ in held if isinstance(type_, OptionalType)}
