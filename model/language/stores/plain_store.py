"""State as plain values: the reference semantics of every model."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeVar, cast

from onceproof.model.errors import ModelError
from onceproof.model.language.expressions.symbolic_value import plain_truth
from onceproof.model.language.sorts import NO_SORT, Member, Nobody, Sort
from onceproof.model.language.source_location import here
from onceproof.model.language.stores.store import (
    Disabled,
    checked_index,
    refuse_change,
    refuse_old,
)
from onceproof.model.language.terms.types import (
    IntType,
    MemberType,
    Value,
    lowest,
    member,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from onceproof.model.language.fields import Field

    Rule = Callable[..., object]
    Ranged = Sequence[tuple[Sort, int]]

T = TypeVar("T")


class PlainStore:
    """Values, as Python has them: the reference semantics of every model."""

    def __init__(
        self,
        values: dict[str, dict[tuple[int, ...], Value]],
        *,
        frozen: bool = False,
    ) -> None:
        """Start from ``values``; they are changed in place, unless it is ``frozen``."""
        self.values = values
        self._frozen = frozen
        self._before: dict[tuple[str, tuple[int, ...]], Value] = {}

    def read(self, field: Field, indices: tuple[object, ...]) -> object:
        """Return the value of one element."""
        checked_index(field, indices)
        try:
            return self.values[field.path][cast("tuple[int, ...]", indices)]
        except KeyError:
            if not self._frozen:
                # A guard keeps the index inside, or else the trace is refused.
                raise Disabled from None
            message = f"{field.path} has no element {list(indices)}"
            raise ModelError(message, where=here()) from None

    def read_old(self, field: Field, indices: tuple[object, ...]) -> object:
        """Return the value that one element had before anything was written."""
        refuse_old(field, frozen=self._frozen)
        now = self.read(field, indices)
        place = tuple(int(cast("int", i)) for i in indices)
        return self._before.get((field.path, place), now)

    def is_somebody(self, value: object) -> bool:
        """Return whether a value is a member, and not nobody."""
        return not isinstance(value, Nobody)

    def indexed(
        self,
        path: str,  # noqa: ARG002 - whoever reads by the index is refused
        sorts: Sequence[Sort],  # noqa: ARG002
        indices: tuple[object, ...],
    ) -> tuple[object, ...]:
        """Return an index."""
        return indices

    def write(self, field: Field, indices: tuple[object, ...], value: object) -> None:
        """Change one element, within the bounds of its type."""
        refuse_change(field, frozen=self._frozen)
        self.read(field, indices)
        place = tuple(int(cast("int", i)) for i in indices)
        held = self.values[field.path]
        new = cast("Value", self.fit(field, value))
        self._before.setdefault((field.path, place), held[place])
        held[place] = new

    def fit(self, field: Field, value: object) -> object:
        """Check that a value is one that a field can hold, and give it."""
        if isinstance(field.type, MemberType):
            return self._member(field, field.type, value)
        if not isinstance(field.type, IntType):
            return value
        number = int(cast("int", value))
        if not field.type.low <= number <= field.type.high:
            message = f"{field.path} holds {field.type}, not {number}"
            raise ModelError(message, where=here())
        return number

    @staticmethod
    def _member(field: Field, type_: MemberType, value: object) -> Member:
        """Give a member as the field holds it; numbers are members of ordered sorts."""
        number = int(cast("int", value))
        sort = getattr(value, "sort", type_.sort)
        alike = sort in (type_.sort, NO_SORT) or (type_.sort.ordered and sort.ordered)
        if not alike or not lowest(type_) <= number < field.members:
            message = f"{field.path} holds {type_}, not {value}"
            raise ModelError(message, where=here())
        return member(number, type_.sort)

    def write_all(self, *changes: tuple[Field, Rule]) -> None:
        """Change every element at once: the rules see the values before."""
        new = [
            (field, place, rule(*map(Member, place, field.sorts)))
            for field, rule in changes
            for place in self.values[field.path]
        ]
        for field, place, value in new:
            self.write(field, place, value)

    def require(self, condition: object, *, late: bool = False) -> None:  # noqa: ARG002
        """End the action where the condition does not hold."""
        if not plain_truth(condition):
            raise Disabled

    def loop(
        self,
        ranges: Ranged,
        give: Callable[..., T],
        frame: FrameType,  # noqa: ARG002 - anyone may go through plain members
    ) -> Iterator[T]:
        """Go through the members by index."""
        members = ([Member(i, sort) for i in range(size)] for sort, size in ranges)
        return map(give, itertools.product(*members))

    def uses_size(self, sort: Sort) -> None:
        """Note nothing: plain runs have a size anyway."""


class UnguardedStore(PlainStore):
    """Values, for a run of an action that goes on where its guard does not hold."""

    def require(self, condition: object, *, late: bool = False) -> None:  # noqa: ARG002
        """Go on, whatever the condition is."""
        plain_truth(condition)
