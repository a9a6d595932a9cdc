"""Networks without order: what was sent is received at any time, in any order."""

from __future__ import annotations

import itertools
import math
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from onceproof.model.errors import ModelError
from onceproof.model.language.composition.part import Part
from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.declarations.decorators import fault
from onceproof.model.language.declarations.elements import Elements
from onceproof.model.language.declarations.state import state
from onceproof.model.language.expressions.logic import if_else
from onceproof.model.language.expressions.named_tuples import bounds_of
from onceproof.model.language.fields import Field, Param
from onceproof.model.language.parts.bags import bag
from onceproof.model.language.parts.channels import no_family
from onceproof.model.language.parts.message_columns import (
    columns_of,
    refuse_nobody,
    shaped,
)
from onceproof.model.language.parts.room import (
    checked_room,
    constants,
    refuse_idle_faults,
)
from onceproof.model.language.sorts import AnyMember, Member, Nobody, SizeBound, Sort
from onceproof.model.language.source_location import here
from onceproof.model.language.terms.types import BoolType, IntType, Type, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onceproof.model.language.fields import Bound
    from onceproof.model.language.parts.bags import Bag

M = TypeVar("M")

MOST_KINDS = 64
"""How many kinds of message are counted, each by itself."""


class Mail(Generic[M]):
    """One network of a family: what is in it, and what can be done with it."""

    def __init__(self, network: Network[M], at: tuple[int, ...]) -> None:
        """Look at the network for the members ``at``."""
        self._network = network
        self._at = at

    def holds(self, message: M) -> bool:
        """Return whether a message like this is on its way."""
        return self._copies[self._place(message)] > 0

    def send(self, message: M) -> None:
        """Send a message. The action waits while there are too many like it."""
        place = self._place(message)
        number = self._copies[place]
        self._network.need(number < self._network.copies)
        self._copies[place] = number + 1

    def receive(self, message: M) -> None:
        """Take a message like this out. The action waits while there is none."""
        self._network.remove(self._place(message))

    def clear(self, message: M) -> None:
        """Take all messages like this out, if there are any."""
        self._copies[self._place(message)] = 0

    def drop(self, code: int) -> None:
        """Take out a message by its number; one with a member in it has none."""
        self._refuse_members()
        self._network.remove((*self._at, code))

    def repeat(self, code: int) -> None:
        """Add another copy of a message that is on its way, by its number."""
        self._refuse_members()
        self._network.double((*self._at, code))

    @property
    def _copies(self) -> Elements[int]:
        return self._network.counts

    def _place(self, message: M) -> tuple[int, ...]:
        """Return where messages like this are counted."""
        network = self._network
        columns = shaped(network, message, network.parts_of_message)
        for name, sort in network.held.items():
            refuse_nobody(network, name, sort, columns[name])
        members = [columns[name] for name in network.held]
        return (*self._at, *members, network.code(columns))

    def _refuse_members(self) -> None:
        if self._network.held:
            message = (
                "a message with a member in it has no number of its own; name the "
                "message, as in receive(Message(...))"
            )
            raise ModelError(message, where=here())


class Network(Part, Generic[M]):
    """A family of bags of messages, one for each tuple of members.

    Any message in it may be received next. Its faults, each with a budget of its own
    (none unless given), lose a message or deliver it once more.
    """

    kinds: Mapping[str, PartValues]
    held: Mapping[str, Sort]
    """The parts of a message that hold a member: they are indices of the counts."""
    sorts: tuple[Sort, ...]
    inner: tuple[Sort]
    copies_: tuple[int | Param]
    budgets_: Mapping[str, int | Param]
    """The budgets of the faults that need room for two messages alike."""

    @property
    def copies(self) -> int:
        """How many messages alike may be on their way at once."""
        (found,) = self.copies_
        return found if isinstance(found, int) else self.argument(found)

    def holds_at_most(self) -> Mapping[str, int]:
        """Return how many messages alike there is room for, where no name says so."""
        return constants(self, {"copies": self.copies_})

    def _take_sizes(self, sizes: dict[Sort, int]) -> None:
        refuse_idle_faults(self, "copies", self.copies, self.budgets_)
        self._counts = {n: kind.count(self, sizes) for n, kind in self.kinds.items()}
        number = math.prod(self._counts.values())
        if number > MOST_KINDS:
            message = (
                f"{self._path} has {number} kinds of message, and {MOST_KINDS} is the "
                "most that are counted each; say how many messages can be on their "
                "way at once by in_flight=, and there can be any number of kinds"
            )
            raise ModelError(message, where=here())
        self._given = {self.inner[0]: max(1, number)}
        super()._take_sizes(sizes)

    def __getattr__(self, name: str) -> Any:
        """Refuse to treat the family as if it were one network."""
        raise no_family(self, name, Mail)

    def __getitem__(self, at: int | tuple[int, ...]) -> Mail[M]:
        """Return the network of a member, or of a tuple of members."""
        places = at if isinstance(at, tuple) else (at,)
        if len(places) != len(self.sorts):
            wanted = ", ".join(s.name for s in self.sorts)
            message = f"{self._path} is indexed by {wanted}, not {len(places)} values"
            raise ModelError(message, where=here())
        return Mail(self, places)

    @property
    def only(self) -> Mail[M]:
        """The one network of a family that has no index."""
        return self[()]

    @property
    def counts(self) -> Elements[int]:
        """How many of each message are on their way."""
        return Elements(self.store, self.field("on_its_way"))

    @property
    def parts_of_message(self) -> tuple[str, ...]:
        """The names of the parts of a message, as they were declared."""
        return tuple(self.shape)

    def remove(self, place: tuple[int, ...]) -> None:
        """Take out a message by the place where its copies are counted."""
        number = self.counts[place]
        self.need(number > 0)
        self.counts[place] = number - 1

    def double(self, place: tuple[int, ...]) -> None:
        """Add a copy of a message that is on its way, by the same place."""
        number = self.counts[place]
        self.need(number > 0)
        self.need(number < self.copies)
        self.counts[place] = number + 1

    shape: tuple[str, ...]

    def need(self, condition: object) -> None:
        """Let the action wait for a condition."""
        self.store.require(condition, late=True)

    def code(self, columns: Mapping[str, Any]) -> int:
        """Number a message among all that there can be."""
        code, step = 0, 1
        for name, kind in reversed(list(self.kinds.items())):
            count = self._counts[name]
            field = Field(self.path_to(name), kind.type(count), (), 0, volatile=False)
            self.store.fit(field, columns[name])
            code = code + kind.rank(columns[name], count, step)
            step *= self._counts[name]
        return code

    def messages(self) -> Iterator[tuple[object, ...]]:
        """Yield the parts of every message that there can be, in order of number."""
        pairs = zip(self.kinds.values(), self._counts.values(), strict=True)
        return itertools.product(*(kind.values(count) for kind, count in pairs))


class PartValues:
    """The values that a part of a message can have."""

    def __init__(self, name: str, sample: object, high: Bound | None) -> None:
        """Find them from a sample, and the bound of an integer."""
        if isinstance(sample, Member):
            message = (
                f"{name} of a message may be nobody, and a network that counts its "
                "messages has no place for that; say how many can be on their way at "
                "once by in_flight="
                if isinstance(sample, Nobody)
                else f"{name} of a message is member {int(sample)} of "
                f"{sample.sort.text!r}; declare the part by its sort, as in "
                "member_of(PROCESS)"
            )
            raise ModelError(message, where=here())
        self._values: list[object] | None = None
        self._high = high
        if isinstance(sample, bool):
            self._values = [False, True]
        elif isinstance(sample, Enum):
            self._values = list(type(sample))
        elif not isinstance(sample, int) or high is None:
            message = (
                f"{name} of a message is a sort; declare its parts by a NamedTuple, "
                "and this one as member_of(PROCESS)"
                if isinstance(sample, Sort)
                else f"{name} of a message is {sample!r}; an integer needs high="
            )
            raise ModelError(message, where=here())

    def count(self, part: Part, sizes: Mapping[Sort, int]) -> int:
        """Count the values, once sizes and parameters are known."""
        if self._values is not None:
            return len(self._values)
        high = self._high
        if isinstance(high, Param):
            high = part.argument(high)
        if isinstance(high, SizeBound):
            return 1 + sizes[high.sort] + high.more
        return 1 + (sizes[high] if isinstance(high, Sort) else cast("int", high))

    def type(self, count: int) -> Type:
        """Return the type of the values."""
        if self._values is None:
            return IntType(0, count - 1)
        found = type_of(self._values[0])
        return BoolType() if found is None else found

    def values(self, count: int) -> Sequence[object]:
        """Return the values, of which there are ``count``, in order."""
        return range(count) if self._values is None else self._values

    def rank(self, value: object, count: int, step: int) -> int:
        """Return ``step`` times the position of a value."""
        values = self.values(count)
        found = step * (count - 1)
        for position, known in reversed(
            list(enumerate(itertools.islice(values, count - 1)))
        ):
            found = if_else(value == known, step * position, found)
        return found


@overload
def network(
    sample: M,
    *,
    per: Sort | tuple[Sort, ...] = (),
    in_flight: int | Param | Sort,
    copies: int | Param | None = None,
    high: Bound | Mapping[str, Bound] | None = None,
    volatile: bool = False,
    losses: int | Param = 0,
    repeats: int | Param = 0,
) -> Slot[Bag[M]]: ...
@overload
def network(
    sample: M,
    *,
    per: Sort | tuple[Sort, ...] = (),
    in_flight: None = None,
    copies: int | Param | None = None,
    high: Bound | Mapping[str, Bound] | None = None,
    volatile: bool = False,
    losses: int | Param = 0,
    repeats: int | Param = 0,
) -> Slot[Network[M]]: ...
def network(
    sample: M,
    *,
    per: Sort | tuple[Sort, ...] = (),
    in_flight: int | Param | Sort | None = None,
    copies: int | Param | None = None,
    high: Bound | Mapping[str, Bound] | None = None,
    volatile: bool = False,
    losses: int | Param = 0,
    repeats: int | Param = 0,
) -> Slot[Network[M]] | Slot[Bag[M]]:
    """Declare a network without order, for messages like ``sample``.

    ``per`` gives one for each member, or tuple of members: sender and receiver, say.
    Integers in a message go from 0 to ``high``, which may be given for each part of a
    named tuple. A part of it holds a member if it is ``member_of(SORT)`` in the sample.
    ``losses`` and ``repeats`` are budgets of faults; delay needs none,
    since any message may be received next. A ``volatile`` network is lost with the
    volatile state of its owner.

    Without ``in_flight``, the network counts each of at most 64 kinds of message, and
    ``copies`` (1 unless given) of each are on their way at once. With ``in_flight``
    there can be any number of kinds, and so many messages are on their way at once in
    each network: a number, a parameter, or an ordered sort whose members are then the
    places of the messages, so that an action ``per`` that sort can ``take`` any of
    them. ``copies`` bounds those that are alike, where it is given.
    """
    if copies is not None:
        checked_room("copies", copies)
    if in_flight is not None:
        return bag(
            sample,
            per=per,
            in_flight=in_flight,
            copies=copies,
            high=high,
            volatile=volatile,
            losses=losses,
            repeats=repeats,
        )
    copies = 1 if copies is None else copies
    sorts = per if isinstance(per, tuple) else (per,)
    columns = columns_of(sample)
    bounds = bounds_of("high=", high, columns)
    held = {n: v.sort for n, v in columns.items() if isinstance(v, AnyMember)}
    kinds = {
        n: PartValues(n, v, bounds.get(n)) for n, v in columns.items() if n not in held
    }
    per_all = (*sorts, *held.values())
    messages = Sort("message of a network", ordered=True)
    messages.name = "MESSAGE"

    def lose(self: Network[Any], *members: int) -> None:
        """A message is lost."""
        self.remove(members)

    def repeat(self: Network[Any], *members: int) -> None:
        """A message is delivered once more."""
        self.double(members)

    body: dict[str, Any] = {
        "on_its_way": state(
            0, per=(*per_all, messages), high=copies, volatile=volatile
        ),
        "lose": fault(per=(*per_all, messages), at_most=losses)(lose),
        "repeat": fault(per=(*per_all, messages), at_most=repeats)(repeat),
        "kinds": kinds,
        "held": held,
        "shape": tuple(columns),
        "sorts": sorts,
        "inner": (messages,),
        "copies_": (copies,),
        "budgets_": {"repeats": repeats},
        "__doc__": Network.__doc__,
        "__module__": __name__,
    }
    kind = cast("type[Network[M]]", type("Bag", (Network,), body))
    return Slot(kind, kind, fixed=True)
