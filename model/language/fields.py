"""Fields: the state that a protocol and its parts declare, by path."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar, cast, overload

from onceproof.model.errors import ModelError
from onceproof.model.language.sorts import AnyMember, Member, Nobody
from onceproof.model.language.source_location import here
from onceproof.model.language.terms.types import (
    MemberType,
    Type,
    Value,
    holds,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from onceproof.model.language.sorts import SizeBound, Sort

T = TypeVar("T")


class HasArguments(Protocol):
    """What parameters are given to: a protocol or a part."""

    def argument(self, which: Param) -> int:
        """Return the value of a parameter."""
        ...


class Param:
    """A whole number that is given when a protocol is instantiated."""

    onceproof_kind = "param(...)"

    def __init__(self, default: int, text: str = "") -> None:
        """Declare a parameter with its default."""
        self.default = default
        self.text = text
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the attribute's name."""
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Param: ...
    @overload
    def __get__(self, instance: HasArguments, owner: type) -> int: ...
    def __get__(self, instance: HasArguments | None, owner: type) -> Param | int:
        """Return the parameter on a class, its value on a protocol."""
        return self if instance is None else instance.argument(self)


def param(default: int, text: str = "") -> Param:
    """Declare a whole-number parameter of a protocol or part."""
    if isinstance(default, bool) or not isinstance(default, int):
        message = (
            f"param(...) takes the whole number that it is by default, not {default!r}"
        )
        raise ModelError(message, where=here())
    return Param(default, text)


Bound: TypeAlias = "int | Param | Sort | SizeBound"
"""What bounds an integer: a number, a parameter, or the size of a sort."""


@dataclass(frozen=True)
class OneOf:
    """Several values that a field may start from."""

    values: tuple[Value, ...]
    """The values; the model starts in each."""


@dataclass(frozen=True)
class ByMember:
    """A starting value that depends on the member."""

    rule: Callable[..., object]
    """The value as a function of the members that the field is per."""


def one_of(*values: T) -> T:
    """Let a field start from any of ``values``: the model starts in each."""
    if not values:
        message = "one_of() needs the values that the field may start from"
        raise ModelError(message, where=here())
    return cast("T", OneOf(cast("tuple[Value, ...]", values)))


def by_member(rule: Callable[..., T]) -> T:
    """Let each member's element start from what ``rule`` returns for it."""
    if not callable(rule):
        message = f"by_member(...) takes a rule, as in lambda m: ..., not {rule!r}"
        raise ModelError(message, where=here())
    return cast("T", ByMember(rule))


@dataclass(frozen=True)
class Field:
    """One declared field of an instantiated protocol."""

    path: str
    """The name of the field, with the path of its part: ``sink.rows``."""
    type: Type
    """The type of each element."""
    sorts: tuple[Sort, ...]
    """The sorts that index it; empty for a single value."""
    initial: object
    """The initial value: a value, a ``OneOf`` or a ``ByMember``."""
    volatile: bool
    """Whether a crash loses it."""
    where: str = field(default="", compare=False)
    """The line of its declaration, ``file:line``."""
    members: int = field(default=0, compare=False)
    """The size of the sort whose members it holds."""
    for_part: int = field(default=0, compare=False)
    """How many of its sorts are those that its part is for."""

    record: str = field(default="", compare=False)
    """The path of the record that it is a part of, if it is one."""

    def starts(self, indices: tuple[Member, ...]) -> tuple[Value, ...]:
        """List the values that one element may start from."""
        value = self.start(*indices)
        given = value.values if isinstance(value, OneOf) else (cast("Value", value),)
        values = [one for some in given for one in self._each(some)]
        return tuple({(type(one), one): one for one in values}.values())

    def _each(self, value: object) -> Sequence[Value]:
        """List the values that one given value is short for."""
        if isinstance(value, AnyMember):
            return [Member(i, value.sort) for i in range(self.members)]
        return [cast("Value", value)]

    def named_members(self) -> frozenset[Sort]:
        """Return the sorts whose members are not alike to what the field starts as."""
        value = self.initial
        held = {self.type.sort} if isinstance(self.type, MemberType) else set()
        if isinstance(value, ByMember):
            return frozenset({*self.sorts[self.for_part :], *held})
        values = value.values if isinstance(value, OneOf) else (value,)
        by_number = any(
            isinstance(one, Member) and not isinstance(one, Nobody) for one in values
        )
        return frozenset(held if by_number else ())

    def start(self, *indices: Member) -> object:
        """Return the one value that an element starts from."""
        value = self.initial
        own = indices[self.for_part :]
        return value.rule(*own) if isinstance(value, ByMember) else value

    def check_starts(self, sizes: Mapping[Sort, int]) -> None:
        """Refuse to start from what the field cannot hold.

        Raises ``ModelError``.
        """
        for place in self.places(sizes) if self._by_member else [()]:
            members = tuple(map(Member, place, self.sorts))
            for value in self.starts(members):
                if not holds(self.type, value):
                    message = f"{self.path} starts as {value}, and holds {self.type}"
                    raise ModelError(message, where=self.where)

    @property
    def _by_member(self) -> bool:
        return isinstance(self.initial, ByMember)

    def places(self, sizes: Mapping[Sort, int]) -> list[tuple[int, ...]]:
        """List the indices of all elements, in order."""
        return list(itertools.product(*(range(sizes[s]) for s in self.sorts)))
