"""State as a class declares it, and the way to its value in a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast, overload

from onceproof.model.errors import ModelError
from onceproof.model.language.declarations.elements import Elements
from onceproof.model.language.declarations.records import (
    RecordFields,
    read,
    write,
)
from onceproof.model.language.expressions.named_tuples import (
    bounds_of,
    checked_bound,
    is_named_tuple,
    parts_of,
)
from onceproof.model.language.expressions.symbolic_value import instead_of
from onceproof.model.language.fields import ByMember, Field, OneOf, Param
from onceproof.model.language.sorts import (
    NO_SORT,
    AnyMember,
    Member,
    SizeBound,
    sorts_of,
)
from onceproof.model.language.source_location import here, modelling
from onceproof.model.language.terms.types import (
    MOST,
    TOO_LARGE,
    EnumType,
    IntType,
    MemberType,
    Type,
    merged,
    type_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.model.language.declarations.records import Held
    from onceproof.model.language.fields import Bound
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.stores.store import StateStore

T = TypeVar("T")


class Owner(Protocol):
    """What declares state: a protocol or a part."""

    part_sorts: tuple[Sort, ...]
    """The sorts for whose members there is such a part."""

    @property
    def store(self) -> StateStore:
        """The state that is looked at."""
        ...

    def path_to(self, name: str) -> str:
        """Name something of this part from the protocol's point of view."""
        ...

    def field(self, name: str) -> Field:
        """Return the resolved field of that name."""
        ...

    def argument(self, which: Param) -> int:
        """Return the value of a parameter."""
        ...

    def size_of(self, sort: Sort, *, where: str = "") -> int:
        """Return the size of a sort, which ``where`` speaks of."""
        ...


class State(Generic[T]):
    """The declaration of a field, and the way to its value on a protocol."""

    onceproof_kind = "state(...)"

    def __init__(
        self,
        initial: T,
        *,
        sorts: tuple[Sort, ...],
        low: Bound | Mapping[str, Bound],
        high: Bound | Mapping[str, Bound] | None,
        volatile: bool,
    ) -> None:
        """Keep what was declared; of a record, each part by itself."""
        self.initial = initial
        self.sorts = sorts
        self.volatile = volatile
        self.name = ""
        self.record = ""
        self.where = here()
        self.parts: dict[str, State[Any]] = {}
        self.low: Bound | None = None
        self.high: Bound | None = None
        if not is_named_tuple(initial):
            self.low = checked_bound("low=", low)
            self.high = checked_bound("high=", high)
            return
        sample = parts_of(initial)
        lows, highs = bounds_of("low=", low, sample), bounds_of("high=", high, sample)
        for name, value in sample.items():
            self.parts[name] = State(
                value,
                sorts=sorts,
                low=lows[name] or 0,
                high=highs[name],
                volatile=volatile,
            )

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the attribute's name."""
        self.name = name
        for inner, part in self.parts.items():
            part.name, part.record = f"{name}.{inner}", name

    def bounds(self) -> list[Bound]:
        """List what bounds its integers."""
        ends = [end for one in self.each() for end in (one.low, one.high)]
        return [end for end in ends if end is not None]

    def each(self) -> list[State[Any]]:
        """List the declarations of fields: of itself, or of the parts of a record."""
        return list(self.parts.values()) or [self]

    def fields(self, part: Owner) -> dict[str, Field]:
        """Resolve the declaration for one protocol or part: one field, or several."""
        return {one.name: one.field(part) for one in self.each()}

    def held(self, part: Owner) -> Held:
        """Return where the value lies in the state of a protocol or part."""
        if not self.parts:
            return part.field(self.name)
        path, kind = part.path_to(self.name), type(self.initial)
        fields = {name: part.field(one.name) for name, one in self.parts.items()}
        return RecordFields(path, kind, fields)

    def field(self, part: Owner) -> Field:
        """Resolve what is no record for one protocol or part."""
        with modelling(self.where):
            type_ = self._type(part)
        return Field(
            path=part.path_to(self.name),
            type=type_,
            sorts=(*part.part_sorts, *self.sorts),
            initial=self.initial,
            volatile=self.volatile,
            where=self.where,
            for_part=len(part.part_sorts),
            record=part.path_to(self.record) if self.record else "",
            members=part.size_of(type_.sort, where=self.where)
            if isinstance(type_, MemberType)
            else 0,
        )

    def _type(self, part: Owner) -> Type:
        sample: object = self.initial
        if isinstance(sample, OneOf):
            held = [type_of_sample(value) for value in sample.values]
            if any(isinstance(one, MemberType) for one in held):
                return self._member_type(held)
            sample = sample.values[0]
        if isinstance(sample, ByMember):
            sample = sample.rule(*(Member(0, sort) for sort in self.sorts))
        found = type_of_sample(sample)
        if isinstance(found, MemberType):
            return self._member_type([found])
        if isinstance(found, IntType):
            if self.high is None:
                message = f"integer state {self.name} needs its bound: high=..."
                raise ModelError(message, where=self.where)
            low, high = (
                _resolved(part, end, self.where) for end in (self.low or 0, self.high)
            )
            if low > high:
                message = f"{self.name} holds {low}..{high}, which is empty"
                raise ModelError(message, where=self.where)
            if low < -MOST or high > MOST:
                message = f"{self.name} holds {low}..{high}; {TOO_LARGE}"
                raise ModelError(message, where=self.where)
            return IntType(low, high)
        if is_named_tuple(sample):
            message = (
                f"{self.name} starts from whole records; write one_of(...) or "
                "by_member(...) in the part that differs"
            )
            raise ModelError(message, where=self.where)
        if found is None:
            message = (
                f"{self.name} starts as {sample!r}, no value of the language; "
                f"{instead_of(sample)}"
            )
            raise ModelError(message, where=self.where)
        if isinstance(found, EnumType) or found == type_of(True):  # noqa: FBT003 - a value
            self._refuse_bounds(str(found))
            return found
        message = f"{self.name} cannot hold {found}"
        raise ModelError(message, where=self.where)

    def _refuse_bounds(self, held: str) -> None:
        """Refuse bounds of what is no integer: they would be ignored."""
        if self.high is not None or self.low != 0:
            message = (
                f"{self.name} holds {held}, which has no bounds; leave out high= "
                "and low="
            )
            raise ModelError(message, where=self.where)

    def _member_type(self, held: list[Type | None]) -> MemberType:
        """Return the type that holds all of some members."""
        found = held[0]
        for one in held[1:]:
            found = None if found is None or one is None else merged(found, one)
        if not isinstance(found, MemberType):
            message = (
                f"{self.name} starts from values of several types; let it start from "
                "members of one sort, as in one_of(nobody_of(P), member_of(P))"
            )
            raise ModelError(message, where=self.where)
        if found.sort is NO_SORT:
            message = (
                f"{self.name} starts as nobody, and it is not said of which sort; "
                "declare it by its sort, as in owner = state(nobody_of(PROCESS))"
            )
            raise ModelError(message, where=self.where)
        self._refuse_bounds(str(found))
        return found


class Scalar(State[T]):
    """A field with one value."""

    @overload
    def __get__(self, instance: None, owner: type) -> Scalar[T]: ...
    @overload
    def __get__(self, instance: Owner, owner: type) -> T: ...
    def __get__(self, instance: Owner | None, owner: type) -> Scalar[T] | T:
        """Return the declaration on a class, the value on a protocol."""
        if instance is None:
            return self
        return cast("T", read(instance.store, self.held(instance), ()))

    def __set__(self, instance: Owner, value: T) -> None:
        """Change the value."""
        write(instance.store, self.held(instance), (), value)


class Family(State[T]):
    """A field with one value for each member, or each tuple of members."""

    @overload
    def __get__(self, instance: None, owner: type) -> Family[T]: ...
    @overload
    def __get__(self, instance: Owner, owner: type) -> Elements[T]: ...
    def __get__(self, instance: Owner | None, owner: type) -> Family[T] | Elements[T]:
        """Return the declaration on a class, the elements on a protocol."""
        if instance is None:
            return self
        return Elements(instance.store, self.held(instance))

    def __set__(self, instance: Owner, value: object) -> None:
        """Refuse: elements are changed one by one, or all by ``set`` or ``fill``."""
        message = (
            f"{self.name} has an element per member; "
            f"use self.{self.name}[...] = v, .fill(v) or .set(lambda ...: v)"
        )
        raise ModelError(message, where=here())


def type_of_sample(value: object) -> Type | None:
    """Return the type that holds what a state starts from, or a part of a message."""
    if isinstance(value, AnyMember):
        return MemberType(value.sort)
    return type_of(value)


def _resolved(part: Owner, end: Bound, where: str) -> int:
    if isinstance(end, Param):
        return part.argument(end)
    if isinstance(end, SizeBound):
        return part.size_of(end.sort, where=where) + end.more
    return end if isinstance(end, int) else part.size_of(end, where=where)


@overload
def state(
    initial: T,
    *,
    low: Bound | Mapping[str, Bound] = 0,
    high: Bound | Mapping[str, Bound] | None = None,
    volatile: bool = False,
) -> Scalar[T]: ...


@overload
def state(
    initial: T,
    *,
    per: Sort | tuple[Sort, ...],
    low: Bound | Mapping[str, Bound] = 0,
    high: Bound | Mapping[str, Bound] | None = None,
    volatile: bool = False,
) -> Family[T]: ...


def state(
    initial: T,
    *,
    per: Sort | tuple[Sort, ...] = (),
    low: Bound | Mapping[str, Bound] = 0,
    high: Bound | Mapping[str, Bound] | None = None,
    volatile: bool = False,
) -> Scalar[T] | Family[T]:
    """Declare a field: Bool or Enum by its initial value, an integer by its bounds.

    A field that holds a member of a sort starts from ``member_of(SORT)``; if it may
    also hold ``nobody``, from ``nobody_of(SORT)``. A bound may be a number, a
    parameter, or a sort, which means its size: ``high=SORT`` or ``high=SORT + 1``. With
    ``per`` there is one element for each member of a sort, or each tuple of members.
    ``lose_volatile`` resets a ``volatile`` field, and no other.

    A record is declared by a named tuple of initial values. Its bounds may be given for
    each field, as in ``high={"epoch": 3}``.
    """
    sorts = sorts_of(per)
    kind = Family[T] if sorts else Scalar[T]
    return kind(initial, sorts=sorts, low=low, high=high, volatile=volatile)
