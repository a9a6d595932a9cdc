"""The types of a model's state: each is finite, and coded as small integers."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import Enum, Flag
from typing import TypeAlias

from onceproof.model.errors import ModelError
from onceproof.model.language.sorts import Member, Sort
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

    def __str__(self) -> str:
        """Name the type for messages."""
        return f"member of {self.sort.name}"


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
    if isinstance(type_, IntType):
        return int(value) - type_.low  # type: ignore[arg-type]
    return int(value)  # type: ignore[arg-type]


def decode(type_: Type, code: int) -> Value:
    """Return the value of ``code``."""
    if isinstance(type_, BoolType):
        return bool(code)
    if isinstance(type_, EnumType):
        return type_.members[code]
    if isinstance(type_, IntType):
        return code + type_.low
    return Member(code, type_.sort)


def cardinality(type_: Type, size: int = 0) -> int:
    """Count the values of a type; ``size`` is the size of a member's sort."""
    if isinstance(type_, BoolType):
        return 2
    if isinstance(type_, EnumType):
        return len(type_.members)
    if isinstance(type_, IntType):
        return type_.high - type_.low + 1
    return size


def is_integer(type_: Type) -> bool:
    """Return whether values of the type can be compared by size and added."""
    return isinstance(type_, IntType) or (
        isinstance(type_, MemberType) and type_.sort.ordered
    )


def type_of(value: object) -> Type | None:
    """Return the smallest type that holds a plain value, if the language has one."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, Enum):
        return _enum_type(type(value))
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
    return found == type_


def spelled(value: object) -> bool | int | float | str:
    """Return a value as files, pages and reports show it.

    A member of an enumeration is shown by its value: a text, a number or a truth value
    as it is, and any other by its ``str``.
    """
    found = value.value if isinstance(value, Enum) else value
    return found if isinstance(found, str | int | float) else str(found)
