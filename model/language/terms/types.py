"""The types of a model's state: each is finite, and coded as small integers."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import Enum, Flag
from typing import TypeAlias

from onceproof.model.errors import ModelError
from onceproof.model.language.sorts import (
    NO_MEMBER,
    NO_SORT,
    Member,
    Nobody,
    Sort,
    nobody,
)
from onceproof.model.language.source_location import here

Value: TypeAlias = bool | int | Enum


@dataclass(frozen=True)
class BoolType:
    """Truth values, coded as 0 and 1."""

    def __str__(self) -> str:
        """Name the type for messages."""
        return "Bool"


@dataclass(frozen=True)
class EnumType:
    """The members of a Python enumeration, coded by their position."""

    enum: type[Enum]
    """The enumeration, a class of Python."""

    @property
    def members(self) -> tuple[Enum, ...]:
        """The members in the order of their declaration."""
        return tuple(self.enum)

    def __str__(self) -> str:
        """Name the type for messages."""
        return self.enum.__name__


@dataclass(frozen=True)
class IntType:
    """Integers from ``low`` to ``high``, both included, coded as ``value - low``."""

    low: int
    high: int

    def __str__(self) -> str:
        """Name the type for messages."""
        return f"{self.low}..{self.high}"


@dataclass(frozen=True)
class MemberType:
    """Members of a sort, coded by index."""

    sort: Sort
    """The sort whose members are the values."""

    def __str__(self) -> str:
        """Name the type for messages."""
        return f"member of {self.sort.name}"


@dataclass(frozen=True)
class OptionalType(MemberType):
    """Members of a sort, or nobody, coded by index + 1, and 0 for nobody."""

    def __str__(self) -> str:
        """Name the type for messages."""
        if self.sort is NO_SORT:
            return "nobody"
        return f"member of {self.sort.name} or nobody"


Type: TypeAlias = BoolType | EnumType | IntType | MemberType

BOOL = BoolType()

MOST = 2**53 - 1
"""The largest whole number that every reader of a model holds exactly."""

TOO_LARGE = (
    f"whole numbers go from -{MOST} to {MOST} (2**53 - 1), so choose smaller bounds"
)


def encode(type_: Type, value: Value) -> int:
    """Code a value of ``type_`` as an integer from 0."""
    if isinstance(type_, EnumType):
        return type_.members.index(value)
    return int(value) - lowest(type_)  # type: ignore[arg-type]


def lowest(type_: Type) -> int:
    """Return the number of the value that is coded as 0."""
    if isinstance(type_, IntType):
        return type_.low
    return NO_MEMBER if isinstance(type_, OptionalType) else 0


def decode(type_: Type, code: int) -> Value:
    """Return the value of ``code``."""
    if isinstance(type_, BoolType):
        return bool(code)
    if isinstance(type_, EnumType):
        return type_.members[code]
    if isinstance(type_, IntType):
        return code + type_.low
    return member(code + lowest(type_), type_.sort)


def member(number: int, sort: Sort) -> Member:
    """Return the member of that number, or nobody."""
    return nobody if number == NO_MEMBER else Member(number, sort)


def cardinality(type_: Type, size: int = 0) -> int:
    """Count the values of a type; ``size`` is the size of a member's sort.

    Nobody counts as one, where the type holds it.
    """
    if isinstance(type_, BoolType):
        return 2
    if isinstance(type_, EnumType):
        return len(type_.members)
    if isinstance(type_, IntType):
        return type_.high - type_.low + 1
    return size - lowest(type_)


def is_integer(type_: Type) -> bool:
    """Return whether values of the type can be compared by size and added."""
    return isinstance(type_, IntType) or (
        isinstance(type_, MemberType)
        and type_.sort.ordered
        and not isinstance(type_, OptionalType)
    )


def merged(one: Type, other: Type) -> Type | None:
    """Return a type that holds the members of both, None unless both are members."""
    if not (isinstance(one, MemberType) and isinstance(other, MemberType)):
        return None
    if one.sort is NO_SORT or other.sort is NO_SORT:
        return OptionalType(one.sort if other.sort is NO_SORT else other.sort)
    if one.sort is not other.sort:
        return None
    return one if isinstance(one, OptionalType) else other


def type_of(value: object) -> Type | None:
    """Return the smallest type that holds a plain value, if the language has one."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, Enum):
        return _enum_type(type(value))
    if isinstance(value, Nobody):
        return OptionalType(value.sort)
    if isinstance(value, Member):
        return MemberType(value.sort)
    if isinstance(value, int):
        return IntType(value, value)
    return None


@functools.lru_cache(maxsize=1024)
def _enum_type(enum: type[Enum]) -> EnumType:
    """Return the type of an enumeration, if each of its names is a value of its own."""
    if issubclass(enum, Flag):
        message = (
            f"{enum.__name__} is a Flag, whose values are sets; use an Enum, "
            "or a truth value for each of its members"
        )
        raise ModelError(message, where=here())
    for name, member in enum.__members__.items():
        if name != member.name:
            message = (
                f"{enum.__name__}.{name} is another name of {enum.__name__}."
                f"{member.name}, for their values are equal; give it a value of its own"
            )
            raise ModelError(message, where=here())
    return EnumType(enum)


def holds(type_: Type, value: object) -> bool:
    """Return whether a plain value is one of a type."""
    found = type_of(value)
    if isinstance(type_, IntType) and isinstance(found, IntType):
        return type_.low <= found.low <= type_.high
    if isinstance(type_, OptionalType):
        return found is not None and merged(type_, found) == type_
    return found == type_


def spelled(value: object) -> bool | int | float | str:
    """Return a value as files, pages and reports show it.

    A member of an enumeration is shown by its value: a text, a number or a truth value
    as it is, and any other by its ``str``. So is a member of a sort.
    """
    found = value.value if isinstance(value, Enum) else value
    if isinstance(found, Member):
        return str(found)
    return found if isinstance(found, str | int | float) else str(found)
