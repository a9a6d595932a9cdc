"""Fields: the state that a protocol and its parts declare, by path."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar, cast, overload

from onceproof.model.errors import ModelError
from onceproof.model.language.decorators import sorts_of
from onceproof.model.language.sorts import Member
from onceproof.model.language.source_location import here, modelling
from onceproof.model.language.terms.types import (
    MOST,
    TOO_LARGE,
    EnumType,
    IntType,
    Type,
    Value,
    holds,
    type_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onceproof.model.language.protocol import Part
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.stores.symbolic_store import Store

T = TypeVar("T")


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
    def __get__(self, instance: Part, owner: type) -> int: ...
    def __get__(self, instance: Part | None, owner: type) -> Param | int:
        """Give the parameter on a class, its value on a protocol."""
        return self if instance is None else instance.argument(self)


def param(default: int, text: str = "") -> Param:
    """Declare a whole-number parameter of a protocol or part."""
    return Param(default, text)


@dataclass(frozen=True)
class OneOf:
    """Several values that a field may start from."""

    values: tuple[Value, ...]


@dataclass(frozen=True)
class ByMember:
    """A starting value that depends on the member."""

    rule: Callable[..., object]


def one_of(*values: T) -> T:
    """Let a field start from any of ``values``: the model starts in each."""
    if not values:
        message = "one_of() needs the values that the field may start from"
        raise ModelError(message, where=here())
    return cast("T", OneOf(cast("tuple[Value, ...]", values)))


def by_member(rule: Callable[..., T]) -> T:
    """Let each member's element start from what ``rule`` answers for it."""
    return cast("T", ByMember(rule))


@dataclass(frozen=True)
class Field:
    """One declared field of an instantiated protocol."""

    path: str
    type: Type
    sorts: tuple[Sort, ...]
    initial: object
    volatile: bool
    where: str = field(default="", compare=False)

    def starts(self, indices: tuple[Member, ...]) -> tuple[Value, ...]:
        """List the values that one element may start from."""
        value = self.start(*indices)
        values = value.values if isinstance(value, OneOf) else (cast("Value", value),)
        return tuple({(type(one), one): one for one in values}.values())

    def start(self, *indices: Member) -> object:
        """Give the one value that an element starts from."""
        value = self.initial
        return value.rule(*indices) if isinstance(value, ByMember) else value

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


class State(Generic[T]):
    """The declaration of a field, and the way to its value on a protocol."""

    onceproof_kind = "state(...)"

    def __init__(
        self,
        initial: T,
        *,
        sorts: tuple[Sort, ...],
        low: int | Param,
        high: int | Param | Sort | None,
        volatile: bool,
    ) -> None:
        """Keep what was declared."""
        self.initial = initial
        self.sorts = sorts
        self.low = low
        self.high = high
        self.volatile = volatile
        self.name = ""
        self.where = here()

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the attribute's name."""
        self.name = name

    def field(self, part: Part) -> Field:
        """Resolve the declaration for one protocol or part."""
        with modelling(self.where):
            type_ = self._type(part)
        return Field(
            path=part.path_to(self.name),
            type=type_,
            sorts=self.sorts,
            initial=self.initial,
            volatile=self.volatile,
            where=self.where,
        )

    def _type(self, part: Part) -> Type:
        sample: object = self.initial
        if isinstance(sample, OneOf):
            sample = sample.values[0]
        if isinstance(sample, ByMember):
            sample = sample.rule(*(Member(0, sort) for sort in self.sorts))
        found = type_of(sample)
        if isinstance(found, IntType):
            if self.high is None:
                message = f"integer state {self.name} needs its bound: high=..."
                raise ModelError(message, where=self.where)
            low, high = (_resolved(part, end) for end in (self.low, self.high))
            if low > high:
                message = f"{self.name} holds {low}..{high}, which is empty"
                raise ModelError(message, where=self.where)
            if low < -MOST or high > MOST:
                message = f"{self.name} holds {low}..{high}; {TOO_LARGE}"
                raise ModelError(message, where=self.where)
            return IntType(low, high)
        if found is None:
            message = f"{self.name} starts as {sample!r}, no value of the language"
            raise ModelError(message, where=self.where)
        if isinstance(found, EnumType) or found == type_of(True):
            return found
        message = (
            f"{self.name} cannot hold a member of a sort; hold a truth value for each "
            "instead, as in leader = state(False, per=PROCESS)"
        )
        raise ModelError(message, where=self.where)


class Scalar(State[T]):
    """A field with one value."""

    @overload
    def __get__(self, instance: None, owner: type) -> Scalar[T]: ...
    @overload
    def __get__(self, instance: Part, owner: type) -> T: ...
    def __get__(self, instance: Part | None, owner: type) -> Scalar[T] | T:
        """Give the declaration on a class, the value on a protocol."""
        if instance is None:
            return self
        return cast("T", instance.store.read(instance.field(self.name), ()))

    def __set__(self, instance: Part, value: T) -> None:
        """Change the value."""
        instance.store.write(instance.field(self.name), (), value)


class Family(State[T]):
    """A field with one value for each member, or each tuple of members."""

    @overload
    def __get__(self, instance: None, owner: type) -> Family[T]: ...
    @overload
    def __get__(self, instance: Part, owner: type) -> Elements[T]: ...
    def __get__(self, instance: Part | None, owner: type) -> Family[T] | Elements[T]:
        """Give the declaration on a class, the elements on a protocol."""
        if instance is None:
            return self
        return Elements(instance.store, instance.field(self.name))

    def __set__(self, instance: Part, value: object) -> None:
        """Refuse: elements are changed one by one, or all by ``set`` or ``fill``."""
        message = (
            f"{self.name} has an element per member; "
            f"use self.{self.name}[...] = v, .fill(v) or .set(lambda ...: v)"
        )
        raise ModelError(message, where=here())


class Elements(Generic[T]):
    """The elements of a family, in one state."""

    def __init__(self, store: Store, field: Field) -> None:
        """Look at ``field`` through ``store``."""
        self._store = store
        self._field = field

    def __getitem__(self, at: int | tuple[int, ...]) -> T:
        """Give the element at a member, or at a tuple of members."""
        return cast("T", self._store.read(self._field, _listed(at)))

    def __setitem__(self, at: int | tuple[int, ...], value: T) -> None:
        """Change the element at a member, or at a tuple of members."""
        self._store.write(self._field, _listed(at), value)

    def fill(self, value: T) -> None:
        """Change every element to ``value``."""
        self._store.write_all(self._field, lambda *_: value)

    @overload
    def set(self, rule: Callable[[Member], T]) -> None: ...
    @overload
    def set(self, rule: Callable[[Member, Member], T]) -> None: ...
    @overload
    def set(self, rule: Callable[[Member, Member, Member], T]) -> None: ...
    def set(self, rule: Callable[..., T]) -> None:
        """Change every element at once to ``rule(member, ...)``, of the values now."""
        self._store.write_all(self._field, rule)


def _resolved(part: Part, end: int | Param | Sort) -> int:
    if isinstance(end, Param):
        return part.argument(end)
    return end if isinstance(end, int) else part.size_of(end)


def _listed(at: object) -> tuple[object, ...]:
    return at if isinstance(at, tuple) else (at,)


@overload
def state(
    initial: T,
    *,
    low: int | Param = 0,
    high: int | Param | Sort | None = None,
    volatile: bool = False,
) -> Scalar[T]: ...
@overload
def state(
    initial: T,
    *,
    per: Sort | tuple[Sort, ...],
    low: int | Param = 0,
    high: int | Param | Sort | None = None,
    volatile: bool = False,
) -> Family[T]: ...
def state(
    initial: T,
    *,
    per: Sort | tuple[Sort, ...] = (),
    low: int | Param = 0,
    high: int | Param | Sort | None = None,
    volatile: bool = False,
) -> Scalar[T] | Family[T]:
    """Declare a field: Bool or Enum by its initial value, an integer by its bounds.

    A bound may be a number, a parameter, or a sort, which stands for its size.
    ``per`` gives it one element for each member of a sort, or each tuple of
    members. A ``volatile`` field is lost by ``lose_volatile``; all others endure.
    """
    sorts = sorts_of(per)
    kind = Family[T] if sorts else Scalar[T]
    return kind(initial, sorts=sorts, low=low, high=high, volatile=volatile)
