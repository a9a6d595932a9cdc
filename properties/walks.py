"""Failing runs of a protocol, simplest first: those that are listed, and walks."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias

from onceproof.model.errors import UsageError
from onceproof.model.explore.graph import Graph
from onceproof.model.interleavings import interleavings
from onceproof.model.language.sorts import Member
from onceproof.model.language.trace import trace
from onceproof.model.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onceproof.model.durable import Remains
    from onceproof.model.language.plain import Reference, State
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.steps import Event
    from onceproof.model.language.types import Value

Strike: TypeAlias = "tuple[Event, Remains]"

MOST_STATES = 10_000
MOST_STEPS = 60


class Listed:
    """The failing runs of a protocol, by the faults that strike in each.

    A strike is a fault and the durable state that it strikes. All lists are in the
    order of the simplest run that they lead to.
    """

    def __init__(self, reference: Reference, most: int) -> None:
        """List a run of each class that holds no more than ``most`` faults.

        Raises ``UsageError`` where runs cannot be listed.
        """
        graph = Graph(trace(reference.protocol))
        graph.start()
        while graph.grow():
            if graph.count > MOST_STATES:
                message = f"more than {MOST_STATES:,} states; take a walk instead"
                raise UsageError(message)
        found = interleavings(reference.protocol)
        runs = [one.trace for one in found.classes if len(one.faults) <= most]
        self.runs: dict[tuple[Strike, ...], list[Trace]] = {}
        for run in sorted(runs, key=lambda run: size(reference, run)):
            strikes = tuple(
                (event, found.durable.of(state))
                for event, state in zip(run.events, run.states, strict=False)
                if event.fault
            )
            self.runs.setdefault(strikes, []).append(run)
        self.strikes = list(dict.fromkeys(itertools.chain.from_iterable(self.runs)))
        self._begun = {s[:n] for s in self.runs for n in range(len(s) + 1)}

    def goes_on(self, strikes: tuple[Strike, ...]) -> bool:
        """Say whether in some run these are the first strikes, and not the last."""
        return any((*strikes, one) in self._begun for one in self.strikes)

    def follows(self, strikes: tuple[Strike, ...], strike: Strike) -> bool:
        """Say whether in some run a strike is the next after these."""
        return (*strikes, strike) in self._begun


def size(reference: Reference, run: Trace) -> tuple[int, int, int]:
    """Measure a run by faults, steps and switches: what is simpler comes first."""
    faults = sum(event.fault for event in run.events)
    return faults, len(run.steps), context_switches(reference, run.events)


def context_switches(reference: Reference, events: Sequence[Event]) -> int:
    """Count how often a step is not of the process that took the step before it."""
    lanes = [_lane(reference, event) for event in events]
    return sum(not _shared(one, other) for one, other in itertools.pairwise(lanes))


def _lane(reference: Reference, event: Event) -> dict[Sort, set[int]]:
    lane: dict[Sort, set[int]] = {}
    sorts = reference.steps[event.name].sorts
    for sort, member in zip(sorts, event.members, strict=True):
        lane.setdefault(sort, set()).add(member)
    return lane


def _shared(one: dict[Sort, set[int]], other: dict[Sort, set[int]]) -> bool:
    """Say whether two steps are of one process: they agree wherever both name one."""
    common = one.keys() & other.keys()
    if not common:
        return not one and not other
    return all(one[sort] & other[sort] for sort in common)


def starts(reference: Reference) -> Iterable[Sequence[Value]]:
    """List what each element of the state may hold at first."""
    for field, place in reference.places:
        members = (Member(i, s) for i, s in zip(place, field.sorts, strict=True))
        yield list(field.starts(tuple(members)))


class Walk:
    """A walk through the states of a protocol, as far as it has come."""

    def __init__(self, reference: Reference, start: State, most: int) -> None:
        """Stand at ``start``; ``most`` faults may still strike."""
        self._reference = reference
        self._start = self._state = start
        self._left = most
        self._steps: list[tuple[Event, State]] = []
        self._due: Event | None = None
        events = list(reference.events())
        self._kinds = {
            fault: [event for event in events if event.fault == fault]
            for fault in (False, True)
        }

    def go(self, wanted: Event) -> None:
        """Take the step that is wanted, or else the next of its kind that is possible.

        A fault that cannot strike yet is due, and strikes as soon as it can.
        """
        if not self._take(wanted) and wanted.fault:
            self._due = wanted
        elif self._due is not None and self._take(self._due):
            self._due = None

    def failing(self) -> Trace | None:
        """Give the walk; one without a fault goes on until some fault can strike."""
        action, fault = (self._kinds[kind][0] for kind in (False, True))
        while not any(event.fault for event, _ in self._steps) and not self._take(
            fault
        ):
            if len(self._steps) >= MOST_STEPS or not self._take(action):
                return None
            action = self._after(self._steps[-1][0])[0]
        return Trace(self._start, tuple(self._steps))

    def _after(self, event: Event) -> list[Event]:
        """List the events of one kind, from the one that follows ``event`` on."""
        kind = self._kinds[event.fault]
        at = kind.index(event) + 1
        return [*kind[at:], *kind[:at]]

    def _take(self, wanted: Event) -> bool:
        if wanted.fault and not self._left:
            return False
        for event in (wanted, *self._after(wanted)):
            after = self._reference.after(self._state, event)
            if after is not None and after != self._state:
                self._steps.append((event, after))
                self._state = after
                self._left -= event.fault
                return True
        return False
