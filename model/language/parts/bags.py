"""Networks without order that bound how many messages are on their way, not which.

A bag keeps its messages sorted, so that two bags with the same messages are the same
state. Its size grows with the messages that fit in, and not with the kinds of message
that there can be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from onceproof.model.errors import ModelError
from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.declarations.decorators import fault
from onceproof.model.language.declarations.state import state
from onceproof.model.language.expressions.comparisons import goes_before
from onceproof.model.language.expressions.logic import all_of, any_of, if_else, not_
from onceproof.model.language.expressions.named_tuples import bounds_of
from onceproof.model.language.fields import Param
from onceproof.model.language.parts.channels import Channels, End, no_family
from onceproof.model.language.parts.message_columns import blank_of, column
from onceproof.model.language.parts.room import constants, refuse_idle_faults
from onceproof.model.language.sorts import Member, Sort
from onceproof.model.language.source_location import here
from onceproof.model.language.terms.types import BoolType, EnumType, Type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onceproof.model.language.fields import Bound

M = TypeVar("M")
Columns = dict[str, Any]


class Mailbag(Generic[M]):
    """One network of a family: what is in it, and what can be done with it."""

    def __init__(self, bag: Bag[M], at: tuple[int, ...]) -> None:
        """Look at the network for the members ``at``."""
        self._bag = bag
        self._at = at

    @property
    def used(self) -> int:
        """How many messages are on their way."""
        return cast("int", self._bag.elements("used")[self._at])

    @property
    def empty(self) -> bool:
        """Whether no message is on its way."""
        return self.used == 0

    def holds(self, message: M) -> bool:
        """Return whether a message like this is on its way."""
        wanted = self._bag.fitting(message)
        return any_of(*(self._is(i, wanted) for i in self._places))

    def messages(self) -> list[tuple[bool, M]]:
        """List what is at each place, and whether it is a message."""
        return [(self.used > i, self.at(i)) for i in self._places]

    def at(self, place: int) -> M:
        """Return the message at a place; a blank if there is none."""
        return self._bag.message(self._columns(place))

    def send(self, message: M) -> None:
        """Send a message. The action waits while there is no room for it."""
        bag, used, new = self._bag, self.used, self._bag.fitting(message)
        bag.need(used < bag.length)
        if bag.alike is not None:
            bag.need(self._alike(new) < bag.alike)
        before = [self._goes_before(i, new) for i in self._places]
        old = [self._columns(i) for i in self._places]
        for name, value in new.items():
            cells = bag.elements(name)
            for i in self._places:
                moved = if_else(before[i - 1], value, old[i - 1][name]) if i else value
                cells[*self._at, i] = if_else(before[i], old[i][name], moved)
        bag.elements("used")[self._at] = used + 1

    def receive(self, message: M) -> None:
        """Take a message like this out. The action waits while there is none."""
        bag, wanted = self._bag, self._bag.fitting(message)
        bag.need(self.used > 0)
        bag.need(any_of(*(self._is(i, wanted) for i in self._places)))
        self._remove(wanted, [1])

    def take(self, place: int) -> M:
        """Take the message at a place out. The action waits while there is none."""
        message = self._bag.known(self.at(place))
        self.drop(place)
        return message

    def clear(self, message: M) -> None:
        """Take all messages like this out, if there are any."""
        wanted = self._bag.fitting(message)
        self._remove(wanted, list(range(self._bag.length + 1)))

    def drop(self, place: int) -> None:
        """Take out the message at a place."""
        End(self._bag, self._at).drop(place)

    def repeat(self, place: int) -> None:
        """Add a copy of the message at a place."""
        self._bag.need(self.used > place)
        self.send(self._bag.known(self.at(place)))

    @property
    def _places(self) -> range:
        return range(self._bag.length)

    def _columns(self, place: int) -> Columns:
        bag = self._bag
        return {n: bag.elements(n)[*self._at, place] for n in bag.blank}

    def _is(self, place: int, message: Columns) -> bool:
        there = self._columns(place)
        return all_of(
            self.used > place, *(there[name] == v for name, v in message.items())
        )

    def _goes_before(self, place: int, message: Columns) -> bool:
        """Return whether what is at a place goes before a message, or is like it."""
        later = self._bag.less(message, self._columns(place))
        return all_of(self.used > place, not_(later))

    def _alike(self, message: Columns) -> int:
        return sum((if_else(self._is(i, message), 1, 0) for i in self._places), start=0)

    def _remove(self, wanted: Columns, numbers: list[int]) -> None:
        """Take out messages that are alike; as they are sorted, they lie together."""
        bag, used = self._bag, self.used
        last = bag.length - 1
        alike = self._alike(wanted) if len(numbers) > 1 else 1
        before = [
            all_of(used > i, bag.less(self._columns(i), wanted)) for i in self._places
        ]
        old = [self._columns(i) for i in self._places]
        for name, blank in bag.blank.items():
            cells = bag.elements(name)
            for i in self._places:
                value = blank if i + numbers[-1] > last else old[i + numbers[-1]][name]
                for number in reversed(numbers[:-1]):
                    behind = blank if i + number > last else old[i + number][name]
                    value = if_else(alike == number, behind, value)
                cells[*self._at, i] = if_else(before[i], old[i][name], value)
        left = used - numbers[0]
        for number in numbers[1:]:
            gone = all_of(alike == number, used >= number)  # in bounds at any rate
            left = if_else(gone, used - number, left)
        bag.elements("used")[self._at] = left


class Bag(Channels[M]):
    """A family of bags of messages, one for each tuple of members.

    Any message in it may be received next. Its faults, each with a budget of its own
    (none unless given), lose a message or deliver it once more.
    """

    copies_: tuple[int | Param | None]

    def holds_at_most(self) -> Mapping[str, int]:
        """Return how many messages there is room for, where no name says so."""
        return constants(self, {self.room_: self.bound_, "copies": self.copies_})

    def _take_sizes(self, sizes: dict[Sort, int]) -> None:
        if self.alike is not None:
            refuse_idle_faults(self, "copies", self.alike, self.budgets_)
        super()._take_sizes(sizes)

    @property
    def alike(self) -> int | None:
        """How many messages alike may be on their way at once."""
        (found,) = self.copies_
        return self.argument(found) if isinstance(found, Param) else found

    def __getattr__(self, name: str) -> Any:
        """Refuse to treat the family as if it were one network."""
        raise no_family(self, name, Mailbag)

    def __getitem__(self, at: int | tuple[int, ...]) -> Mailbag[M]:  # type: ignore[override]
        """Return the network of a member, or of a tuple of members."""
        super().__getitem__(at)
        return Mailbag(self, at if isinstance(at, tuple) else (at,))

    @property
    def only(self) -> Mailbag[M]:  # type: ignore[override]
        """The one network of a family that has no index."""
        return self[()]

    def send_where(self, chosen: Callable[..., bool], message: M) -> None:  # noqa: ARG002
        """Refuse: a bag is sorted, and each of a family in its own way."""
        text = (
            "a network with in_flight= sends to one receiver at a time; write "
            "self.net[p].send(message) in an action for each, or leave in_flight= out"
        )
        raise ModelError(text, where=here())

    def fitting(self, message: M) -> Columns:
        """Take a message apart, and check that each part is one that fits."""
        given = self.columns(message)
        for name, value in given.items():
            self.store.fit(self.field(name), value)
        return given

    def less(self, one: Columns, other: Columns) -> bool:
        """Return whether a message goes before another in a bag."""
        found: bool = False
        for name in reversed(list(self.blank)):
            kind = self.field(name).type
            left, right = _rank(kind, one[name]), _rank(kind, other[name])
            found = any_of(goes_before(left, right), all_of(left == right, found))
        return found


def _rank(kind: Type, value: Any) -> Any:
    """Return a number by which values of a type are sorted."""
    if isinstance(kind, BoolType):
        return if_else(value, 1, 0)
    if isinstance(kind, EnumType):
        found: int = len(kind.members) - 1
        for position, member in reversed(list(enumerate(kind.members[:-1]))):
            found = if_else(value == member, position, found)
        return found
    return value


def bag(
    sample: M,
    *,
    per: Sort | tuple[Sort, ...],
    in_flight: int | Param | Sort,
    copies: int | Param | None,
    high: Bound | Mapping[str, Bound] | None,
    volatile: bool,
    losses: int | Param,
    repeats: int | Param,
) -> Slot[Bag[M]]:
    """Declare a network whose messages are counted, and their kinds are not."""
    sorts = per if isinstance(per, tuple) else (per,)
    place = _places_of(in_flight)
    blank, held = blank_of(sample)
    for name, value in blank.items():
        _refuse_unsorted(name, value)
    bounds = bounds_of("high=", high, blank)

    def lose(self: Bag[Any], *members: int) -> None:
        """A message is lost."""
        *at, where = members
        self[tuple(at)].drop(where)

    def repeat(self: Bag[Any], *members: int) -> None:
        """A message is delivered once more."""
        *at, where = members
        self[tuple(at)].repeat(where)

    body: dict[str, Any] = {
        **{
            name: column(value, (*sorts, place), bounds.get(name), volatile=volatile)
            for name, value in blank.items()
        },
        "used": state(0, per=sorts, high=in_flight, volatile=volatile),
        "lose": fault(per=(*sorts, place), at_most=losses)(lose),
        "repeat": fault(per=(*sorts, place), at_most=repeats)(repeat),
        "blank": blank,
        "held": held,
        "sorts": sorts,
        "inner": (place,),
        "bound_": None if isinstance(in_flight, Sort) else (in_flight,),
        "copies_": (copies,),
        "room_": "in_flight",
        "budgets_": {"repeats": repeats},
        "sample": sample,
        "__doc__": Bag.__doc__,
        "__module__": __name__,
    }
    kind = cast("type[Bag[M]]", type("Bag", (Bag,), body))
    return Slot(kind, kind, fixed=True)


def _refuse_unsorted(name: str, value: object) -> None:
    """Refuse a part of a message that no bag can be sorted by."""
    if isinstance(value, Member) and not value.sort.ordered:
        sort = value.sort.name or value.sort.text
        message = (
            f"in_flight= sorts messages, and {name} is a member of {sort}, which has "
            f"no order; give each member a network of its own by per={sort}, use "
            "channels(...), or leave in_flight= out"
        )
        raise ModelError(message, where=here())


def _places_of(in_flight: int | Param | Sort) -> Sort:
    """Return the sort whose members are the places of messages in a bag."""
    if isinstance(in_flight, Sort):
        if not in_flight.ordered:
            message = (
                f"in_flight= takes an ordered sort, and {in_flight.text!r} is none; "
                "declare it with ordered=True"
            )
            raise ModelError(message, where=here())
        return in_flight
    if isinstance(in_flight, Member | bool) or not isinstance(in_flight, int | Param):
        message = f"in_flight= takes a number, a parameter or a sort, not {in_flight!r}"
        raise ModelError(message, where=here())
    if isinstance(in_flight, int) and in_flight < 1:
        message = f"in_flight= is how many messages there is room for, not {in_flight}"
        raise ModelError(message, where=here())
    place = Sort("message on its way", ordered=True)
    place.name = "PLACE"
    return place
