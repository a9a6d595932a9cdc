"""The failure interleavings of a protocol, one of each equivalence class.

The *durable word* of an interleaving is the sequence of its faults and of the actions
that write state which outlives a crash. Two such steps commute when they can be swapped
wherever one follows the other, and lead to the same state; that is established on the
whole state graph, not assumed. A fault that loses volatile state commutes with no
durable write: it is a moment at which someone may look.

Two interleavings are equivalent when their durable words are equal up to the order of
neighbours that commute (Mazurkiewicz, 1977), and when they start, crash and end in the
same durable states, up to the names of members of interchangeable sorts. A real run
that is killed at these durable states cannot distinguish them, because everything else
is lost. What an observer of the protocol reads counts as durable. A fault that the
driver survives, such as a task's failure, may be injected between durable writes of
others that it neither undoes nor prevents; their order is free. Where volatile state
decides what a fault does to durable state, faults with different effects differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from onceproof.model.errors import UsageError
from onceproof.model.interleavings.canonical_form import Word, inserted, order, place
from onceproof.model.interleavings.durable_state import (
    Durable,
    heeds_memory,
    is_crash,
    names_of,
)
from onceproof.model.interleavings.interleaving import Interleaving, Interleavings
from onceproof.model.language.tracing.durable_fields import is_durable
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.symmetry import renamed
from onceproof.model.search.visited_states import VisitedStates
from onceproof.model.traces import Trace

if TYPE_CHECKING:
    from onceproof.model.interleavings.durable_state import Effect, Remains
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.interpreter import State
    from onceproof.model.language.steps import Event
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.symmetry import Renaming


MOST_STATES = 200_000


class PathClass(NamedTuple):
    """What distinguishes paths to a state.

    ``crashed_in`` holds the durable state that it began in, then those of crashes;
    ``left`` those that crashes left. For each event of ``word``, ``effects``
    has what it did, if it is a fault whose effect volatile state decides, else 0.
    """

    word: Word
    crashed_in: tuple[Remains, ...]
    left: tuple[Remains, ...] = ()
    effects: tuple[Effect, ...] = ()


def interleavings(protocol: Protocol) -> Interleavings:
    """Enumerate the failure interleavings of a protocol, in a fixed order.

    Each runs from an initial state to rest. The protocol's ``faults`` bounds how
    many faults one may hold. Raises ``UsageError`` for a protocol that need not
    reach rest, or is too large to enumerate.
    """
    system = trace(protocol)
    edges, graph = _edges(system)
    found = _Paths(system, graph, edges)
    merged: dict[PathClass, tuple[int, tuple[int, PathClass]]] = {}
    for row, run, size in found.at_rest():
        name = found.canonical(row, run)
        before, first = merged.get(name, (0, (row, run)))
        merged[name] = (before + size, first)
    classes = []
    names = sorted(merged, key=lambda run: (len(run.word), run))
    for number, name in enumerate(names, 1):
        size, (row, run) = merged[name]
        path = found.path(row, run)
        marks = tuple(i for i, e in enumerate(path.events) if found.is_key(e))
        classes.append(Interleaving(number, path, marks, size))
    return Interleavings(
        protocol,
        tuple(classes),
        found.crash_states(),
        found.durable,
        frozenset(a.name for a in system.actions if is_crash(system, a)),
    )


Edges: TypeAlias = "list[list[tuple[int, int]]]"


def _edges(system: System) -> tuple[Edges, VisitedStates]:
    """Search the whole graph; list for each row its events and where they lead."""
    graph = VisitedStates(system)
    graph.start()
    while graph.grow():
        if graph.count > MOST_STATES:
            message = (
                f"{system.name} has more than {MOST_STATES:,} states at these sizes, "
                "too many to enumerate interleavings; choose smaller ones"
            )
            raise UsageError(message)
    edges: Edges = [[] for _ in range(graph.count)]
    for source, event, target in zip(
        *(column.tolist() for column in graph.edges()), strict=True
    ):
        edges[source].append((event, target))
    return edges, graph


def _writes_durable(system: System, action: ActionTerm) -> bool:
    return any(is_durable(system, path) for path in action.written)


def _topological(system: System, edges: Edges) -> list[int]:
    waiting = [0] * len(edges)
    for out in edges:
        for _, to in out:
            waiting[to] += 1
    ready = [row for row, n in enumerate(waiting) if n == 0]
    order = []
    for row in ready:
        order.append(row)
        for _, to in edges[row]:
            waiting[to] -= 1
            if waiting[to] == 0:
                ready.append(to)
    if len(order) < len(edges):
        message = f"{system.name} can go round for ever, so its runs cannot be listed"
        raise UsageError(message)
    return order


def _dependence(
    edges: Edges, keys: list[bool], crashes: list[bool]
) -> set[tuple[int, int]]:
    """List the pairs of key events that may not change places.

    A pair may when it was met, holds no crash, and wherever one followed the other
    the two could be taken the other way round, to the same state.
    """
    met: set[tuple[int, int]] = set()
    bound: set[tuple[int, int]] = set()
    steps = [dict(row) for row in edges]
    for row in steps:
        for one, middle in row.items():
            if not keys[one]:
                continue
            for other, end in steps[middle].items():
                if not keys[other]:
                    continue
                met |= {(one, other), (other, one)}
                around = row.get(other)
                if around is None or steps[around].get(one) != end:
                    bound |= {(one, other), (other, one)}
            for other in row:
                if keys[other] and other != one and other not in steps[middle]:
                    bound |= {(one, other), (other, one)}
    names = [i for i, key in enumerate(keys) if key]
    return {
        (a, b)
        for a in names
        for b in names
        if (a, b) in bound or (a, b) not in met or crashes[a] or crashes[b]
    }


class _Paths:
    """All paths of a state graph, as far as they differ in their class."""

    def __init__(self, system: System, graph: VisitedStates, edges: Edges) -> None:
        """Follow every path, and keep of each kind how many there are and one."""
        self._graph = graph
        self._edges = edges
        events = graph.events
        crashes = {a.name for a in system.actions if is_crash(system, a)}
        writes = {a.name for a in system.actions if _writes_durable(system, a)}
        heeds = {a.name for a in system.actions if heeds_memory(system, a)}
        self._numbers = {(e.name, e.members): i for i, e in enumerate(events)}
        self._keys = [e.fault or e.name in writes for e in events]
        self._crashes = [e.name in crashes for e in events]
        self._heeds = [e.name in heeds and e.name not in crashes for e in events]
        self._order = _topological(system, edges)
        self._apart = _dependence(edges, self._keys, self._crashes)
        self._orders: dict[Word, tuple[int, ...]] = {}
        self._states: dict[int, State] = {}
        names = names_of(system)
        self.durable = Durable(system, names)
        self._renamed = [self._renaming(system, naming) for naming in names]
        self._remains = [
            self.durable.of(graph.layout.unpack(row))
            for row in graph.states[: graph.count].tolist()
        ]
        self._runs: list[dict[PathClass, int]] = [{} for _ in edges]
        self._back: list[dict[PathClass, tuple[int, PathClass, int]]] = [
            {} for _ in edges
        ]
        self._follow()

    def is_key(self, event: Event) -> bool:
        """Return whether an event is a fault or a durable write."""
        return self._keys[self._numbers[event.name, event.members]]

    def at_rest(self) -> list[tuple[int, PathClass, int]]:
        """List the failure runs that end at rest: where, which, and how many."""
        events, found = self._graph.events, []
        for row in self._order:
            if all(events[e].fault for e, _ in self._edges[row]):
                for run, size in self._runs[row].items():
                    if any(events[e].fault for e in run.word):
                        found.append((row, run, size))
        return found

    def canonical(self, row: int, run: PathClass) -> PathClass:
        """Name a run that ends at ``row``, alike for all that are equivalent."""
        crashed_in = (*run.crashed_in, self._remains[row])
        return min(
            self._canonical_under(number, run, crashed_in)
            for number in range(len(self._renamed))
        )

    def _canonical_under(
        self, number: int, run: PathClass, crashed_in: tuple[Remains, ...]
    ) -> PathClass:
        """Name a run under a renaming."""
        word = tuple(self._renamed[number][e] for e in run.word)
        if word not in self._orders:
            self._orders[word] = order(word, self._apart)
        positions = self._orders[word]
        alike, effects_alike = self.durable.alike, self.durable.effects_alike
        effects = [e and effects_alike(e)[number] for e in run.effects]
        return PathClass(
            tuple(word[at] for at in positions),
            tuple(alike(state)[number] for state in crashed_in),
            tuple(alike(state)[number] for state in run.left),
            tuple(effects[at] for at in positions),
        )

    def path(self, row: int, run: PathClass) -> Trace:
        """Return one path of the kind that ends at ``row``."""
        steps = []
        while run in self._back[row]:
            before, shorter, event = self._back[row][run]
            steps.append((self._graph.events[event], self._state(row)))
            row, run = before, shorter
        return Trace(self._state(row), tuple(steps[::-1]))

    def crash_states(self) -> frozenset[Remains]:
        """Return the durable states that a crash can find, up to names of members."""
        return frozenset(
            self.durable.whichever(self._remains[row])
            for row, out in enumerate(self._edges)
            if any(self._crashes[event] for event, _ in out)
        )

    def _state(self, row: int) -> State:
        """Read a state; paths share most of them."""
        if row not in self._states:
            layout, packed = self._graph.layout, self._graph.states[row].tolist()
            self._states[row] = layout.unpack(packed)
        return self._states[row]

    def _follow(self) -> None:
        for row in range(self._graph.levels[1]):
            self._runs[row][PathClass((), (self._remains[row],))] = 1
        for row in self._order:
            for event, to in self._edges[row]:
                for run, size in self._runs[row].items():
                    longer = self._longer(run, event, row, to)
                    if longer not in self._runs[to]:
                        self._back[to][longer] = (row, run, event)
                    self._runs[to][longer] = self._runs[to].get(longer, 0) + size

    def _longer(self, run: PathClass, event: int, row: int, to: int) -> PathClass:
        if not self._keys[event]:
            return run
        crashed_in, left, effect = run.crashed_in, run.left, 0
        if self._crashes[event]:
            crashed_in = (*crashed_in, self._remains[row])
            left = (*left, self._remains[to])
        if self._heeds[event]:
            effect = self.durable.effect(self._remains[row], self._remains[to])
        at = place(run.word, event, self._apart)
        word = inserted(run.word, at, event)
        return PathClass(word, crashed_in, left, inserted(run.effects, at, effect))

    def _renaming(self, system: System, naming: Renaming) -> list[int]:
        sorts = {a.name: tuple(p.type.sort for p in a.params) for a in system.actions}
        return [
            self._numbers[e.name, renamed(e.members, sorts[e.name], naming)]
            for e in self._graph.events
        ]
