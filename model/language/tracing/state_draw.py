"""Draws states of a protocol at random: initial ones, and any that its types allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.language.sorts import Member
from onceproof.model.language.terms.types import (
    BoolType,
    EnumType,
    IntType,
    MemberType,
    Type,
    Value,
    lowest,
    member,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

    from onceproof.model.language.fields import Field
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.tracing.evaluation import Values


class StateDraw:
    """Draws whole states."""

    def __init__(
        self, fields: Sequence[Field], sizes: Mapping[Sort, int], chance: random.Random
    ) -> None:
        """Prepare to draw values for each place of each field."""
        self._places = [
            (field, [(at, _members(field, at)) for at in field.places(sizes)])
            for field in fields
        ]
        self._chance = chance

    def initial(self) -> Values:
        """Draw a state that the protocol can start in."""
        return self._draw(_start)

    def any(self) -> Values:
        """Draw a state that the types allow, reachable or not."""
        return self._draw(_any)

    def _draw(
        self, choose: Callable[[random.Random, Field, tuple[Member, ...]], Value]
    ) -> Values:
        return {
            field.path: {
                place: choose(self._chance, field, members) for place, members in places
            }
            for field, places in self._places
        }


def _members(field: Field, place: tuple[int, ...]) -> tuple[Member, ...]:
    return tuple(map(Member, place, field.sorts))


def _start(chance: random.Random, field: Field, members: tuple[Member, ...]) -> Value:
    return chance.choice(field.starts(members))


def _any(chance: random.Random, field: Field, members: tuple[Member, ...]) -> Value:
    """Draw from all values of a type; now and then one that the field starts from."""
    if chance.random() < 0.25:  # noqa: PLR2004 - a share
        return _start(chance, field, members)
    return _drawn(chance, field.type, field.members)


def _drawn(chance: random.Random, type_: Type, size: int) -> Value:
    if isinstance(type_, BoolType):
        return chance.random() < 0.5  # noqa: PLR2004 - a fair coin
    if isinstance(type_, EnumType):
        return chance.choice(type_.members)
    if isinstance(type_, IntType):
        return chance.randint(type_.low, type_.high)
    if isinstance(type_, MemberType):
        return member(chance.randrange(lowest(type_), size), type_.sort)
    message = f"no value can be drawn from {type_}"
    raise TypeError(message)
