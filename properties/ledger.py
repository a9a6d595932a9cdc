"""The ledger: what happened to the world, in words that model and Spark share.

A ledger speaks of events. For each it knows how often its effect is ``visible``,
whether it was ``accepted`` (the source owes it), ``promised`` (the engine has
recorded it as done) or ``rejected`` (its effect is given up for good), and its
``unit``: the batch or transaction it belongs to. For a query that computes, an event
is a row of its result, and ``expected`` says how often a batch run of the query shows
it. ``unexplained`` counts visible effects that belong to no accepted event.

In a model an event is a tuple of members, and a ledger is read off the methods that
a protocol marks with ``@observe``. In a real run a ledger is a small table: one row
for all events with the same outcomes, so that it fits in memory at any size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from onceproof.model.errors import ModelError
from onceproof.model.language import all_of, if_else, not_
from onceproof.model.language.declarations.decorators import ObserveMark
from onceproof.model.language.declarations.elements import Elements
from onceproof.model.language.expressions.symbolic_value import Symbolic
from onceproof.model.language.sorts import Tuples
from onceproof.model.language.source_location import defined_at
from onceproof.model.language.terms.terms import sort_of
from onceproof.model.language.terms.types import (
    BOOL,
    IntType,
    MemberType,
    OptionalType,
    type_of,
)
from onceproof.model.language.tracing.durable_fields import refuse_observed_parts
from onceproof.model.text import did_you_mean
from onceproof.properties.schema import Count, stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.sorts import Sort

VOCABULARY = (
    "visible",
    "accepted",
    "promised",
    "rejected",
    "unit",
    "expected",
    "unexplained",
)
_WORDS = ", ".join(VOCABULARY)
EVENT, EFFECT, RESULT_ROW = "event", "effect", "row"


@stored()
@dataclass(frozen=True, order=True)
class EventOutcome:
    """What became of an event by one moment."""

    promised: bool
    """Whether it was recorded as done."""
    visible: Count
    """How often a reader sees it."""


@stored("example")
@dataclass(frozen=True, order=True)
class Row:
    """Events of one unit that have the same outcomes at every moment."""

    unit: Count
    """The unit that they belong to: the batch, say."""
    accepted: bool
    """Whether the system accepted them."""
    outcomes: tuple[EventOutcome, ...]
    """Their outcome at each moment."""
    events: Count = 1
    """How many events there are."""
    example: str = field(default="", compare=False)
    """One of them, in words, where that is known."""


@stored("strays", "unread", "errors", "counted")
@dataclass(frozen=True)
class History:
    """What was observed of a run, or of a model's trace, at each of some moments."""

    moments: tuple[str, ...]
    """The names of the moments, in order."""
    rows: tuple[Row, ...]
    """The events, one row for all that have the same outcomes."""
    unexplained: tuple[Count, ...]
    """How many visible effects belong to no event, at each moment."""
    rested: bool = True
    """Whether the run reached its end; without it, the run did not recover."""
    strays: tuple[str, ...] = field(default=(), compare=False)
    """An example of an effect that belongs to no event, at each moment; or no text."""
    unread: tuple[Count, ...] = ()
    """The moments at which no reader could read. The outcomes there are not
    judged."""
    errors: tuple[str, ...] = field(default=(), compare=False)
    """Why readers failed, for each moment of ``unread``, where that is known."""
    counted: str = field(default=EVENT, compare=False)
    """What is counted: ``event``; ``effect`` for a sink with several readers, each of
    which must see each event; or ``row`` for a sink with a ``result``."""

    def error(self, moment: int) -> str:
        """Return why readers failed at a moment; the empty text if they read."""
        if moment not in self.unread:
            return ""
        known = dict(zip(self.unread, self.errors, strict=False))
        return known.get(moment) or "it raised an error"

    def seen(self, moment: int) -> dict[int, int]:
        """Count at a moment how many events a reader saw how often."""
        found: dict[int, int] = {}
        for row in self.rows:
            times = row.outcomes[moment].visible
            found[times] = found.get(times, 0) + row.events
        return dict(sorted(found.items()))

    def shape(self) -> object:
        """Return the outcomes, whatever the number of events, to compare histories."""
        alike = {(r.unit, r.accepted, r.outcomes) for r in self.rows}
        return (sorted(alike), tuple(n > 0 for n in self.unexplained), self.rested)


class Ledger:
    """What properties read. ``events()`` yields events; the rest describe one."""

    def __init__(
        self,
        events: Callable[[], Iterable[Any]],
        columns: Mapping[str, Callable[..., Any]],
    ) -> None:
        """Read ``columns`` of ``events``; a column that is missing has its default."""
        self.events = events
        self._columns = columns

    def visible(self, event: Any) -> int:
        """Count how often the event's effect shows to a reader."""
        return cast("int", self._columns["visible"](event))

    def accepted(self, event: Any) -> bool:
        """Return whether the source owes the event."""
        column = self._columns.get("accepted")
        return True if column is None else cast("bool", column(event))

    def promised(self, event: Any) -> bool:
        """Return whether the engine has recorded the event as done."""
        column = self._columns.get("promised")
        return False if column is None else cast("bool", column(event))

    def rejected(self, event: Any) -> bool:
        """Return whether the event's effect is given up: done, and not to be seen."""
        column = self._columns.get("rejected")
        if column is not None:
            return cast("bool", column(event))
        return all_of(self.promised(event), self.visible(event) == 0)

    def unit(self, event: Any) -> int:
        """Return the number of the batch or transaction that the event belongs to."""
        column = self._columns.get("unit")
        return 0 if column is None else int(column(event))

    def together(self, one: Any, other: Any) -> bool:
        """Return whether two events belong to the same unit."""
        column = self._columns.get("unit")
        return True if column is None else cast("bool", column(one) == column(other))

    def expected(self, event: Any) -> int:
        """Count how often a batch run of the same query shows the event."""
        return cast("int", self._columns["expected"](event))

    def unexplained(self) -> int:
        """Count visible effects that belong to no accepted event."""
        column = self._columns.get("unexplained")
        return 0 if column is None else cast("int", column())

    def shows(self, event: Any) -> bool:
        """Return whether the event's effect can be seen at all."""
        return not_(self.visible(event) == 0)


def observables(protocol: Protocol) -> dict[str, tuple[Sort, ...]]:
    """List what a protocol lets be observed, of the ledger's vocabulary."""
    found = {}
    refuse_observed_parts(protocol)
    for name, mark, method in protocol.marked(ObserveMark):
        where = defined_at(method)
        if name not in VOCABULARY:
            hint = did_you_mean(name, VOCABULARY, otherwise=f"it has {_WORDS}")
            message = f"the ledger has no word {name!r}; {hint}"
            raise ModelError(message, where=where)
        found[name] = mark.per
    events = found.get("visible")
    for name, per in found.items():
        if events is not None and per != (() if name == "unexplained" else events):
            message = f"{name} must be observed per {_listed(events)}, as visible is"
            raise ModelError(message, where=where)
    return found


def _listed(sorts: tuple[Sort, ...]) -> str:
    return ", ".join(sort.name for sort in sorts) or "nothing"


def of_protocol(protocol: Protocol) -> Ledger:
    """Read the ledger of a protocol in a state, plain or symbolic."""
    observed = observables(protocol)
    sorts = observed.get("visible", ())

    def column(name: str) -> Callable[..., Any]:
        method = getattr(protocol, name)
        where = defined_at(method)
        return lambda event=(): _observed(name, method(*event), where)

    def events() -> Iterable[tuple[Any, ...]]:
        return Tuples(sorts, protocol)

    return Ledger(events, {name: column(name) for name in observed})


def of_history(history: History, moment: int) -> Ledger:
    """Read the ledger of one moment: a row is all events with the same outcomes."""
    columns: dict[str, Callable[..., Any]] = {
        "visible": lambda row: row.outcomes[moment].visible,
        "accepted": lambda row: row.accepted,
        "promised": lambda row: row.outcomes[moment].promised,
        "unit": lambda row: row.unit,
        "expected": lambda row: int(row.accepted),
        "unexplained": lambda: history.unexplained[moment],
    }
    return Ledger(lambda: iter(history.rows), columns)


def observe_states(interpreter: Interpreter, states: Mapping[str, State]) -> History:
    """Observe a model's states, by moment, just as a real run is observed."""
    ledgers = [of_protocol(interpreter.look(state)) for state in states.values()]
    rows: dict[tuple[int, bool, tuple[EventOutcome, ...]], int] = {}
    for event in ledgers[-1].events():
        outcomes = tuple(
            EventOutcome(bool(ledger.promised(event)), int(ledger.visible(event)))
            for ledger in ledgers
        )
        last = ledgers[-1]
        key = (last.unit(event), bool(last.accepted(event)), outcomes)
        rows[key] = rows.get(key, 0) + 1
    return History(
        moments=tuple(states),
        rows=tuple(sorted(Row(*key, events=n) for key, n in rows.items())),
        unexplained=tuple(int(ledger.unexplained()) for ledger in ledgers),
    )


_TRUTHS = ("accepted", "promised", "rejected")


def _observed(name: str, value: Any, where: str) -> Any:
    """Return what was observed if it is of the kind that its word asks for.

    ``visible`` may answer a truth value, for an effect that shows once or not at all.
    Raises ``ModelError``.
    """
    kind = None if value is None else type_of(value)
    if isinstance(value, Symbolic):
        kind = sort_of(value.term)
    if kind == BOOL:
        if name == "visible":
            return if_else(value, 1, 0)
        right = name in _TRUTHS
    elif name == "unit":
        right = isinstance(kind, IntType | MemberType)
        right = right and not isinstance(kind, OptionalType)
    else:
        right = isinstance(kind, IntType) and name not in _TRUTHS
    if not right:
        wanted = {
            "unit": "a number or a member",
            "visible": "a number or a truth value",
        }
        wanted |= dict.fromkeys(_TRUTHS, "a truth value")
        given = repr(value) if kind is None else f"a value of {kind}"
        if isinstance(value, Elements):
            given = "a field of all members; observe each, as in @observe(per=EVENT)"
        message = f"{name} returns {wanted.get(name, 'a number')}, not {given}"
        raise ModelError(message, where=where)
    return value
