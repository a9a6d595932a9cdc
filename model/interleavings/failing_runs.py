"""Failing runs of a protocol, simplest first: those that are listed, and walks."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, TypeAlias

from onceproof.model.errors import UsageError
from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.language.sorts import Member
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.visited_states import VisitedStates
from onceproof.model.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onceproof.model.interleavings.durable_state import Remains
    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.steps import Event
    from onceproof.model.language.terms.types import Value

Injection: TypeAlias = "tuple[Event, Remains]"
Successors: TypeAlias = "Callable[[State], dict[Event, State]]"

MOST_STATES = 10_000
MOST_STEPS = 60
MOST_KEPT = 10_000


class FailingRuns:
    """The failing runs of a protocol, by the faults injected in each.

    An injection is a fault and the durable state that it hits. All lists are in the
    order of the simplest run that they lead to.
    """

    def __init__(self, interpreter: Interpreter, most: int) -> None:
        """List a run of each class that holds no more than ``most`` faults.

        Raises ``UsageError`` where runs cannot be listed.
        """
        graph = VisitedStates(trace(interpreter.protocol))
        graph.start()
        while graph.grow():
            if graph.count > MOST_STATES:
                message = f"more than {MOST_STATES:,} states; take a walk instead"
                raise UsageError(message)
        found = interleavings(interpreter.protocol)
        runs = [one.trace for one in found.classes if len(one.faults) <= most]
        self.runs: dict[tuple[Injection, ...], list[Trace]] = {}
        self._states: dict[Injection, State] = {}
        for run in sorted(runs, key=lambda run: size(interpreter, run)):
            injected = [
                ((event, found.durable.of(state)), state)
                for event, state in zip(run.events, run.states, strict=False)
                if event.fault
            ]
            self.runs.setdefault(tuple(one for one, _ in injected), []).append(run)
            self._states = dict(injected) | self._states
        self.injections = list(dict.fromkeys(itertools.chain.from_iterable(self.runs)))
        self._begun = {s[:n] for s in self.runs for n in range(len(s) + 1)}

    def goes_on(self, injections: tuple[Injection, ...]) -> bool:
        """Return whether some run begins with these injections, and has more."""
        return any((*injections, one) in self._begun for one in self.injections)

    def next(self, injections: tuple[Injection, ...], wanted: Injection) -> Injection:
        """Return the injection that is wanted, or the nearest to it after these.

        So an injection keeps its meaning where shrinking leaves out one before it.
        """
        if (*injections, wanted) in self._begun:
            return wanted
        possible = [one for one in self.injections if (*injections, one) in self._begun]
        return min(possible, key=lambda one: self._apart(one, wanted))

    def _apart(self, one: Injection, other: Injection) -> tuple[bool, bool, int]:
        """Measure how far two injections are apart, by fault and by state."""
        (event, _), (wanted, _) = one, other
        states = zip(self._states[one], self._states[other], strict=True)
        far = sum(here != there for here, there in states)
        return event != wanted, event.name != wanted.name, far


def size(interpreter: Interpreter, run: Trace) -> tuple[int, int, int]:
    """Measure a run by faults, steps and switches: what is simpler comes first."""
    faults = sum(event.fault for event in run.events)
    return faults, len(run.steps), context_switches(interpreter, run.events)


def context_switches(interpreter: Interpreter, events: Sequence[Event]) -> int:
    """Count how often a step is not of the process that took the step before it."""
    lanes = [_lane(interpreter, event) for event in events]
    return sum(not _shared(one, other) for one, other in itertools.pairwise(lanes))


def _lane(interpreter: Interpreter, event: Event) -> dict[Sort, set[int]]:
    lane: dict[Sort, set[int]] = {}
    sorts = interpreter.steps[event.name].sorts
    for sort, member in zip(sorts, event.members, strict=True):
        lane.setdefault(sort, set()).add(member)
    return lane


def _shared(one: dict[Sort, set[int]], other: dict[Sort, set[int]]) -> bool:
    """Return whether two steps are of one process: all that both name is equal."""
    common = one.keys() & other.keys()
    if not common:
        return not one and not other
    return all(one[sort] & other[sort] for sort in common)


def starts(interpreter: Interpreter) -> Iterable[Sequence[Value]]:
    """List what each element of the state may hold at first."""
    for field, place in interpreter.places:
        members = (Member(i, s) for i, s in zip(place, field.sorts, strict=True))
        yield list(field.starts(tuple(members)))


class FaultyWalk:
    """A walk through the states of a protocol, as far as it has come."""

    def __init__(self, after: Successors, start: State, most: int) -> None:
        """Begin at ``start``; ``most`` faults may happen."""
        self._after = after
        self._start = self._state = start
        self._left = most
        self._steps: list[tuple[Event, State]] = []

    def __len__(self) -> int:
        """Count the steps."""
        return len(self._steps)

    def possible(self, *, fault: bool) -> list[Event]:
        """List the faults, or the actions, that would change something now."""
        if fault and not self._left:
            return []
        return [event for event in self._after(self._state) if event.fault == fault]

    def take(self, event: Event) -> None:
        """Take a step that is possible."""
        self._state = self._after(self._state)[event]
        self._steps.append((event, self._state))
        self._left -= event.fault

    def failing(self) -> Trace | None:
        """Return the walk; one without a fault goes on until some fault can happen.

        Actions take turns until then. Answers None where no fault can happen in time.
        """
        turns: dict[Event, int] = {}
        while not any(event.fault for event, _ in self._steps):
            choice = self.possible(fault=True) or self.possible(fault=False)
            if not choice or len(self) >= MOST_STEPS:
                return None
            event = min(choice, key=lambda one: turns.get(one, 0))
            turns[event] = turns.get(event, 0) + 1
            self.take(event)
        return Trace(self._start, tuple(self._steps))


def successors(interpreter: Interpreter) -> Successors:
    """Return a function that answers where the events of a state lead, others apart.

    Those that change nothing are left out. States that were met lately are kept.
    """

    @functools.lru_cache(MOST_KEPT)
    def after(state: State) -> dict[Event, State]:
        return interpreter.moves(state)

    return after
