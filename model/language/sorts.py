"""Sorts: the kinds of process, batch or partition that a protocol ranges over."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import Enum
from typing import (
    TYPE_CHECKING,
    NoReturn,
    Protocol,
    Self,
    TypeVar,
    cast,
    overload,
)

from onceproof.model.errors import ModelError
from onceproof.model.language.source_location import here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType


T = TypeVar("T")


class Member(int):
    """One member of a sort: an index from 0, shown with the name of its sort.

    A member of an ordered sort may be compared with and added to integers.
    """

    def __new__(cls, index: int, sort: Sort) -> Self:
        """Make member number ``index`` of ``sort``."""
        if index < 0 and cls is Member:
            message = f"Member({index}, ...) is no member: they are numbered from 0"
            raise ModelError(message, where=here())
        member = super().__new__(cls, index)
        member.sort = sort
        return member

    sort: Sort

    def __repr__(self) -> str:
        """Show the member as its sort's name and its index, such as ``RM0``."""
        return f"{self.sort.name}{int(self)}"

    __str__ = __repr__


class Nobody(Member):
    """No member of a sort, where a state or a message may hold none."""

    def __new__(cls, sort: Sort | None = None) -> Self:
        """Make the value that stands for no member of ``sort``, or of whichever."""
        return super().__new__(cls, NO_MEMBER, sort or NO_SORT)

    def __repr__(self) -> str:
        """Show that there is none."""
        return "nobody"

    __str__ = __repr__

    def _no_number(self, *_: object) -> NoReturn:
        message = (
            "nobody is no number; compare with == and !=, as in "
            "when(self.owner != nobody)"
        )
        raise ModelError(message, where=here())

    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = _no_number
    __sub__ = __rsub__ = __neg__ = __mul__ = __rmul__ = _no_number


@dataclass(frozen=True)
class AnyMember:
    """Every member of a sort, as what a state may start from."""

    sort: Sort
    """The sort."""


class Sort:
    """A finite set of processes or things, whose size is a protocol's parameter.

    Members of a sort are interchangeable (symmetric) unless it is ``ordered``.
    The attribute that holds the sort names its size parameter: ``RM = Sort(...)``
    is set by ``--set RM=3``. It has at ``most`` so many members.
    """

    onceproof_kind = "Sort(...)"

    def __init__(
        self, text: str, *, size: int = 2, ordered: bool = False, most: int = 64
    ) -> None:
        """Declare a sort called ``text`` in words, of ``size`` members by default."""
        for option, given in (("size", size), ("most", most)):
            if isinstance(given, bool) or not isinstance(given, int):
                message = f"{option}= of a sort is a whole number, not {given!r}"
                raise ModelError(message, where=here())
        if not isinstance(text, str) or not isinstance(ordered, bool):
            message = (
                "a sort is declared by what its members are, in words, as in "
                'NODE = Sort("node", ordered=True)'
            )
            raise ModelError(message, where=here())
        self.text = text
        self.size = size
        self.ordered = ordered
        self.most = most
        self.name = ""
        self.where = here()

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the name of the attribute that first holds the sort."""
        self.name = self.name or name

    @overload
    def __get__(self, instance: None, owner: type) -> Sort: ...
    @overload
    def __get__(self, instance: Sized, owner: type) -> Members: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Sort: ...
    def __get__(self, instance: object, owner: type) -> Sort | Members:
        """Return the sort on a class, and its members on a protocol."""
        members: Callable[[Sort], Members] | None = getattr(instance, "members", None)
        return self if members is None else members(self)

    def __add__(self, number: int) -> SizeBound:
        """Bound a state by the size and some more: ``high=NODE + 1``."""
        return SizeBound(self, number)

    def __sub__(self, number: int) -> SizeBound:
        """Bound a state by the size and some less: ``high=NODE - 1``."""
        return SizeBound(self, -number)

    def __repr__(self) -> str:
        """Show the sort by name."""
        return f"Sort({self.name})"


@dataclass(frozen=True)
class SizeBound:
    """The size of a sort and some more, as a bound of a state."""

    sort: Sort
    """The sort whose size is meant."""
    more: int
    """What is added to the size; it may be negative."""


NO_MEMBER = -1
"""The number that stands for no member."""

NO_SORT = Sort("whichever sort it is compared with")
"""The sort of ``nobody`` until it is compared with a value of some sort."""

nobody: Member = Nobody()
"""No member: what a state or message that ``nobody_of`` declares may hold."""


def nobody_of(sort: Sort) -> Member:
    """Let a state, or a part of a message, hold a member of ``sort`` or ``nobody``.

    The state starts as ``nobody``.
    """
    return Nobody(_declared(sort, "nobody_of"))


def member_of(sort: Sort) -> Member:
    """Let a state, or a part of a message, hold a member of ``sort``.

    A state may start as any member: the model has a first state for each.
    """
    return cast("Member", AnyMember(_declared(sort, "member_of")))


def _declared(sort: object, name: str) -> Sort:
    if not isinstance(sort, Sort):
        message = f"{name}() takes a sort, where state is declared, not {sort!r}"
        raise ModelError(message, where=here())
    return sort


class Loops(Protocol):
    """What goes through the members of sorts: the state that a method looks at."""

    def loop(
        self,
        ranges: Sequence[tuple[Sort, int]],
        give: Callable[..., T],
        frame: FrameType,
    ) -> Iterator[T]:
        """Go through the members of sorts for ``frame``; ``give`` shapes each tuple."""
        ...

    def uses_size(self, sort: Sort) -> None:
        """Note that the model depends on the number of a sort's members."""
        ...


class Sized(Protocol):
    """What has sorts of given sizes: a protocol or a part."""

    def members(self, sort: Sort) -> Members:
        """Return the members of a sort as the store sees them."""
        ...

    def size_of(self, sort: Sort) -> int:
        """Return the size of a sort."""
        ...

    @property
    def store(self) -> Loops:
        """The state that is looked at."""
        ...


class Members:
    """The members of a sort in one protocol: what ``for r in self.RM`` runs over."""

    def __init__(self, sort: Sort, size: int, store: Loops) -> None:
        """Range over ``size`` members as ``store`` sees them."""
        self.sort = sort
        self._size = size
        self._store = store

    def __iter__(self) -> Iterator[Member]:
        """Go through the members; while tracing, a variable that a quantifier binds."""
        ranges = [(self.sort, self._size)]
        return self._store.loop(ranges, lambda found: found[0], sys._getframe(1))

    def __len__(self) -> int:
        """Count the members. A model that asks is proved for this size only."""
        self._store.uses_size(self.sort)
        return self._size

    @property
    def first(self) -> Member:
        """The first member of an ordered sort."""
        self._need_order("first")
        return Member(0, self.sort)

    @property
    def last(self) -> Member:
        """The last member of an ordered sort."""
        self._need_order("last")
        self._store.uses_size(self.sort)
        return Member(self._size - 1, self.sort)

    def in_order(self, name: str) -> list[Member]:
        """List the members of an ordered sort, for what is called ``name``."""
        if not self.sort.ordered:
            sort = self.sort.name
            message = (
                f"{sort} has no order, so {name} cannot choose; let an action per "
                f"{sort} have the member, and guard it by the condition"
            )
            raise ModelError(message, where=here())
        self._store.uses_size(self.sort)
        return [Member(i, self.sort) for i in range(self._size)]

    def __contains__(self, what: object) -> bool:
        """Refuse ``in``: members of the sort always are members."""
        message = (
            f"`in` asks whether something is a member of {self.sort.name}; "
            "members of the sort always are, so leave it out"
        )
        raise ModelError(message, where=here())

    def _need_order(self, which: str) -> None:
        if not self.sort.ordered:
            message = (
                f"sort {self.sort.name} is not ordered, so it has no {which} member"
            )
            raise ModelError(message, where=here())


class Tuples:
    """The tuples of members of some sorts: what ``for r, s in ...`` runs over."""

    def __init__(self, sorts: tuple[Sort, ...], part: Sized) -> None:
        """Range over the members of each sort as ``part`` sees them."""
        self._sorts = sorts
        self._part = part

    def __iter__(self) -> Iterator[tuple[Member, ...]]:
        """Go through the tuples; while tracing, variables that a quantifier binds."""
        ranges = [(sort, self._part.size_of(sort)) for sort in self._sorts]
        return self._part.store.loop(ranges, lambda found: found, sys._getframe(1))


def sorts_of(per: Sort | tuple[Sort, ...]) -> tuple[Sort, ...]:
    """Return the sorts that something is declared for.

    Raises ``ModelError`` for what is no sort.
    """
    found = per if isinstance(per, tuple) else (per,)
    for sort in found:
        if not isinstance(sort, Sort):
            message = f"per= takes a sort, or a tuple of sorts, not {sort!r}"
            raise ModelError(message + _as_a_sort(sort), where=here())
    return found


def _as_a_sort(what: object) -> str:
    """Say how a range, or an enumeration, is declared as a sort."""
    if isinstance(what, range):
        size = f"size={len(what)}, "
    elif isinstance(what, type) and issubclass(what, Enum | bool):
        size = f"size={len(list(what)) if issubclass(what, Enum) else 2}, "
    else:
        return ""
    return (
        f"; only a claim takes that: here, declare it as a sort, as in KIND = Sort("
        f'"kind", {size}ordered=True), whose members are numbers from 0'
    )
