"""Channels between processes: bounded queues that keep the order of messages.

A channel is a part with state of its own, so every reader of a model reads it as it
reads any state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from onceproof.model.errors import ModelError
from onceproof.model.language.composition.part import Part
from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.declarations.decorators import fault
from onceproof.model.language.declarations.records import comparable
from onceproof.model.language.declarations.state import State, state
from onceproof.model.language.expressions.logic import all_of, if_else, implies
from onceproof.model.language.expressions.named_tuples import bounds_of
from onceproof.model.language.parts.message_columns import (
    ONLY,
    Column,
    blank_of,
    column,
    columns_of,
    refuse_nobody,
    shaped,
)
from onceproof.model.language.parts.room import (
    checked_room,
    constants,
    refuse_idle_faults,
)
from onceproof.model.language.sorts import Member, Sort, Tuples, nobody
from onceproof.model.language.source_location import here

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onceproof.model.language.fields import Bound, Param

M = TypeVar("M")


class End(Generic[M]):
    """One channel of a family: what is in it, and what can be done with it."""

    def __init__(self, channels: Channels[M], at: tuple[int, ...]) -> None:
        """Look at the channel for the members ``at``."""
        self._channels = channels
        self._at = at

    @property
    def used(self) -> int:
        """How many messages are in the channel."""
        return cast("int", self._channels.elements("used")[self._at])

    @property
    def empty(self) -> bool:
        """Whether nothing is in the channel."""
        return self.used == 0

    @property
    def head(self) -> M:
        """The message that would be received next; a blank if there is none."""
        return self._message(0)

    def send(self, message: M) -> None:
        """Put a message at the end. The action waits while the channel is full."""
        channels, used = self._channels, self.used
        channels.need(used < channels.length)
        place = channels.length - 1
        for i in reversed(range(channels.length - 1)):
            place = if_else(used == i, i, place)  # in bounds, whatever was sent before
        for name, value in channels.columns(message).items():
            channels.elements(name)[*self._at, place] = value
        channels.elements("used")[self._at] = used + 1

    def receive(self) -> M:
        """Take the first message out. The action waits while there is none."""
        message = self._channels.known(self.head)
        self.drop(0)
        return message

    def drop(self, place: int) -> None:
        """Take out the message at a place; those behind it move up."""
        channels, used = self._channels, self.used
        last = channels.length - 1
        channels.need(used > place)
        for name, blank in channels.blank.items():
            column = channels.elements(name)
            for i in range(last):
                moved, kept = column[*self._at, i + 1], column[*self._at, i]
                column[*self._at, i] = if_else(place <= i, moved, kept)
            column[*self._at, last] = blank
        channels.elements("used")[self._at] = used - 1

    def repeat(self, place: int) -> None:
        """Put a copy of the message at a place behind all others."""
        channels = self._channels
        channels.need(self.used > place)
        self.send(channels.known(self._message(place)))

    def swap(self, place: int) -> None:
        """Let the message behind the one at a place overtake it."""
        channels = self._channels
        channels.need(self.used > place + 1)
        for name in channels.blank:
            column = channels.elements(name)
            first, second = column[*self._at, place], column[*self._at, place + 1]
            column[*self._at, place] = second
            column[*self._at, place + 1] = first

    def clear(self) -> None:
        """Take all messages out."""
        channels = self._channels
        for name, blank in channels.blank.items():
            for i in range(channels.length):
                channels.elements(name)[*self._at, i] = blank
        channels.elements("used")[self._at] = 0

    def holds(self, message: M) -> int:
        """Count how many messages in the channel are equal to ``message``."""
        wanted = self._channels.columns(message)
        return sum(
            (
                if_else(
                    all_of(
                        self.used > i,
                        *(
                            self._channels.elements(name)[*self._at, i] == value
                            for name, value in wanted.items()
                        ),
                    ),
                    1,
                    0,
                )
                for i in range(self._channels.length)
            ),
            start=0,
        )

    def messages(self) -> list[tuple[bool, M]]:
        """List what is at each place, the first first, and whether it is a message."""
        return [(self.used > i, self._message(i)) for i in range(self._channels.length)]

    def _message(self, place: int) -> M:
        channels = self._channels
        return channels.message(
            {n: channels.elements(n)[*self._at, place] for n in channels.blank}
        )


class Channels(Part, Generic[M]):
    """A family of bounded first-in first-out channels, one for each tuple of members.

    Its faults, each with a budget of its own (none unless given), make it a network:
    a message is lost, delivered once more, or overtaken by the one behind it.
    """

    blank: Mapping[str, Any]
    sorts: tuple[Sort, ...]
    inner: tuple[Sort]
    bound_: tuple[int | Param] | None
    """How much room there is; without it, as much as ``inner`` has members.

    In a tuple, since the class of a channel declares no parameter of its own.
    """
    room_: str = "length"
    """What the option is called that says how much room there is."""
    budgets_: Mapping[str, int | Param]
    """The budgets of the faults that need room for two messages."""

    @property
    def length(self) -> int:
        """How many messages each channel has room for."""
        if self.bound_ is None:
            return self._sizes[self.inner[0]]
        (found,) = self.bound_
        return found if isinstance(found, int) else self.argument(found)

    def holds_at_most(self) -> Mapping[str, int]:
        """Return how many messages there is room for, where no name says so."""
        return constants(self, {self.room_: self.bound_})

    def _take_sizes(self, sizes: dict[Sort, int]) -> None:
        (places,) = self.inner
        if self.bound_ is not None:
            self._given = {places: self.length}
        super()._take_sizes(sizes)
        if places in sizes:
            refuse_idle_faults(self, self.room_, sizes[places], self.budgets_)

    def __getattr__(self, name: str) -> Any:
        """Refuse to treat the family as if it were one channel."""
        raise no_family(self, name, End)

    def __getitem__(self, at: int | tuple[int, ...]) -> End[M]:
        """Return the channel of a member, or of a tuple of members."""
        places = at if isinstance(at, tuple) else (at,)
        if len(places) != len(self.sorts):
            wanted = ", ".join(s.name for s in self.sorts)
            message = f"{self._path} is indexed by {wanted}, not {len(places)} values"
            raise ModelError(message, where=here())
        return End(self, places)

    @property
    def only(self) -> End[M]:
        """The one channel of a family that has no index."""
        return self[()]

    @overload
    def send_where(self, chosen: Callable[[Member], bool], message: M) -> None: ...
    @overload
    def send_where(
        self, chosen: Callable[[Member, Member], bool], message: M
    ) -> None: ...
    @overload
    def send_where(
        self, chosen: Callable[[Member, Member, Member], bool], message: M
    ) -> None: ...
    def send_where(self, chosen: Callable[..., bool], message: M) -> None:
        """Send a message into each channel for whose members ``chosen`` holds.

        The action waits while one of them is full.
        """
        used, sorts = self.elements("used"), len(self.sorts)
        self.need(
            all_of(
                implies(chosen(*at), used[at] < self.length)
                for at in Tuples(self.sorts, self)
            )
        )

        def appended(name: str, value: object) -> Callable[..., object]:
            def rule(*at: Any) -> object:
                here_, place = at[:sorts], at[sorts]
                hit = all_of(chosen(*here_), used[here_] == place)
                return if_else(hit, value, self.elements(name)[at])

            return rule

        for name, value in self.columns(message).items():
            self.store.write_all((self.field(name), appended(name, value)))

        def longer(*at: Any) -> int:
            hit = all_of(chosen(*at), used[at] < self.length)
            return cast("int", if_else(hit, used[at] + 1, used[at]))

        self.store.write_all((self.field("used"), longer))

    def elements(self, name: str) -> Column:
        """Return a column of the messages, or ``used``."""
        return Column(self, name)

    def need(self, condition: object) -> None:
        """Let the action wait for a condition."""
        self.store.require(condition, late=True)

    def columns(self, message: M) -> dict[str, Any]:
        """Take a message apart; it must be of the shape that was declared."""
        found = shaped(self, message, self.blank)
        for name, sort in self.held.items():
            refuse_nobody(self, name, sort, found[name])
        return found

    def known(self, message: M) -> M:
        """Return a message that is there: its parts are members, and not nobody."""
        for name in self.held:
            self.need(columns_of(message)[name] != nobody)
        return message

    def message(self, columns: dict[str, Any]) -> M:
        """Put a message together."""
        if ONLY in columns and len(columns) == 1:
            return cast("M", columns[ONLY])
        kind: Any = type(self.sample)
        return cast("M", comparable(kind)(**columns))

    sample: Any

    held: Mapping[str, Sort]
    """The parts of a message that hold a member, and never nobody."""


def channels(
    sample: M,
    *,
    per: Sort | tuple[Sort, ...] = (),
    length: int | Param,
    high: Bound | Mapping[str, Bound] | None = None,
    volatile: bool = False,
    losses: int | Param = 0,
    repeats: int | Param = 0,
    overtakings: int | Param = 0,
) -> Slot[Channels[M]]:
    """Declare FIFO channels for messages like ``sample``, ``length`` at most in each.

    ``per`` gives a channel for each member, or tuple of members. Integers in a
    message go from 0 to ``high``, which may be given for each part of a named tuple. A
    part of it holds a member if it is ``member_of(SORT)`` in the sample, and a member
    or nobody if it is ``nobody_of(SORT)``.
    ``losses``, ``repeats`` and ``overtakings`` are budgets of faults: with them the
    channels are a network that loses, duplicates and reorders. What is in a
    ``volatile`` channel is lost with the volatile state of its owner.
    """
    sorts = per if isinstance(per, tuple) else (per,)
    place = Sort("place in a channel", ordered=True)
    place.name = "PLACE"
    checked_room("length", length)
    blank, held = blank_of(sample)
    bounds = bounds_of("high=", high, blank)
    fields: dict[str, Any] = {
        name: column(value, (*sorts, place), bounds.get(name), volatile=volatile)
        for name, value in blank.items()
    }
    used: State[int] = state(0, per=sorts, high=length, volatile=volatile)
    harms = (
        ("lose", losses, "drop", "A message is lost."),
        ("repeat", repeats, "repeat", "A message is delivered once more."),
        ("overtake", overtakings, "swap", "A message overtakes the one before it."),
    )
    faults = {
        name: _harm(sorts, place, budget, how, text)
        for name, budget, how, text in harms
    }
    body = {
        **fields,
        "used": used,
        **faults,
        "blank": blank,
        "held": held,
        "sorts": sorts,
        "inner": (place,),
        "bound_": (length,),
        "budgets_": {"repeats": repeats, "overtakings": overtakings},
        "sample": sample,
        "__doc__": Channels.__doc__,
        "__module__": __name__,
    }
    kind = cast("type[Channels[M]]", type("Fifo", (Channels,), body))
    return Slot(kind, kind, fixed=True)


def no_family(part: Part, name: str, one: type) -> Exception:
    """Refuse an attribute that one channel has and a family has not."""
    if not hasattr(one, name) or name.startswith("_"):
        return AttributeError(f"{type(part).__name__} has no {name!r}")
    path = part.path_to("")[:-1]
    message = (
        f"{path} has no {name} of its own; name one, as {path}[...].{name}, "
        f"or {path}.only.{name} where it has no index"
    )
    return ModelError(message, where=here())


def _harm(
    sorts: tuple[Sort, ...], place: Sort, budget: int | Param, how: str, text: str
) -> Any:
    """Make a fault of a channel that does ``how`` to the message at a place."""

    def happens(self: Channels[Any], *members: int) -> None:
        *at, where = members
        getattr(self[tuple(at)], how)(where)

    happens.__doc__ = text
    return fault(per=(*sorts, place), at_most=budget)(happens)
