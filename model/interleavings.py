"""The failure interleavings of a protocol, one of each equivalence class.

What counts of an interleaving is its *durable word*: its faults, and its actions
that write state which outlives a crash, in their order. Two such steps commute when,
wherever one can follow the other, they can as well be taken the other way round and
lead to the same state; that is established on the whole state graph, not assumed.
Two interleavings are equivalent when their durable words are equal up to the order
of neighbours that commute (Mazurkiewicz, 1977), and up to the names of the members
of unordered sorts.

Why one of each class is enough: a fault commutes with no step that it can undo or
prevent, so equivalent interleavings have every fault strike the same durable state,
in the same order, and come to rest in the same durable state. A real run that is
killed at the same durable states cannot tell them apart, for all else is lost.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from onceproof.model.errors import UsageError
from onceproof.model.explore.graph import Graph
from onceproof.model.language.trace import trace
from onceproof.model.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.model.language.plain import State
    from onceproof.model.language.protocol import Protocol
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.steps import Event
    from onceproof.model.language.trace import ActionTerm, System

Word: TypeAlias = tuple[int, ...]

MOST_STATES = 200_000
MOST_PERMUTATIONS = 720


@dataclass(frozen=True)
class Interleaving:
    """A failure interleaving that stands for ``size`` equivalent ones.

    ``word`` holds the positions in ``trace`` of its faults and durable writes.
    """

    number: int
    trace: Trace
    word: tuple[int, ...]
    size: int

    @property
    def faults(self) -> tuple[int, ...]:
        """The positions of the faults in the trace."""
        return tuple(i for i, e in enumerate(self.trace.events) if e.fault)


@dataclass(frozen=True)
class Interleavings:
    """All failure interleavings of a protocol, and the durable states it can reach.

    ``durable_states`` are those that a fault can strike, up to symmetry.
    """

    protocol: Protocol
    classes: tuple[Interleaving, ...]
    durable_states: frozenset[State]
    durable: Durable

    def covered(self, numbers: set[int]) -> int:
        """Count the durable states that the faults of the given classes strike."""
        struck = {
            self.durable.of(one.trace.states[at])
            for one in self.classes
            if one.number in numbers
            for at in one.faults
        }
        return len(struck & self.durable_states)


class Durable:
    """What of a state outlives a crash, told up to the names of symmetric members."""

    def __init__(self, system: System) -> None:
        """Work out which elements endure, and how permutations move them."""
        places = [
            (field, place)
            for field in system.fields
            for place in field.places(system.sizes)
        ]
        kept = {
            (field.path, place): number
            for number, (field, place) in enumerate(places)
            if is_durable(system, field.path)
        }
        sorts = {f.path: f.sorts for f in system.fields}
        self._orders = [
            [kept[path, _renamed(place, sorts[path], naming)] for path, place in kept]
            for naming in namings(system)
        ]

    def of(self, state: State) -> State:
        """Give the durable part of a state."""
        return min((tuple(state[i] for i in order) for order in self._orders), key=repr)


def is_durable(system: System, path: str) -> bool:
    """Say whether a field outlives a crash; budgets of faults are no state at all."""
    budget = path.split(".", maxsplit=1)[0] == "faults"
    return not (budget or system.field(path).volatile)


def namings(system: System) -> list[dict[Sort, tuple[int, ...]]]:
    """List the ways to rename the members of all unordered sorts."""
    sorts = [s for s in system.sizes if not s.ordered]
    choices = [list(itertools.permutations(range(system.sizes[s]))) for s in sorts]
    if np.prod([len(c) for c in choices]) > MOST_PERMUTATIONS:
        choices = [[tuple(range(system.sizes[s]))] for s in sorts]
    return [dict(zip(sorts, pick, strict=True)) for pick in itertools.product(*choices)]


def _renamed(
    place: tuple[int, ...], sorts: tuple[Sort, ...], naming: dict[Sort, tuple[int, ...]]
) -> tuple[int, ...]:
    return tuple(
        naming[s][i] if s in naming else i for s, i in zip(sorts, place, strict=True)
    )


def interleavings(protocol: Protocol) -> Interleavings:
    """Enumerate the failure interleavings of a protocol, in a fixed order.

    Each runs from an initial state to rest. The protocol's ``faults`` bounds how
    many faults one may hold. Raises ``UsageError`` for a protocol that need not
    come to rest, or is too large to enumerate.
    """
    system = trace(protocol)
    edges, graph = _edges(system)
    keys = _key_events(system, graph.events)
    order = _topological(system, edges)
    apart = _dependence(edges, keys)
    reached, back = _words(graph, edges, order, keys, apart)
    namer = _Namer(system, graph.events, apart)
    merged: dict[Word, tuple[int, tuple[int, Word]]] = {}
    for row in order:
        if not edges[row] or all(graph.events[e].fault for e, _ in edges[row]):
            for word, size in reached[row].items():
                if any(graph.events[e].fault for e in word):
                    name = namer.canonical(word)
                    before, first = merged.get(name, (0, (row, word)))
                    merged[name] = (before + size, first)
    durable = Durable(system)
    classes = []
    for number, name in enumerate(sorted(merged, key=lambda w: (len(w), w)), 1):
        size, (row, word) = merged[name]
        path = _path(graph, back, row, word)
        marks = tuple(i for i, e in enumerate(path.events) if keys[_number(graph, e)])
        classes.append(Interleaving(number, path, marks, size))
    return Interleavings(
        protocol, tuple(classes), _struck(graph, edges, durable), durable
    )


Edges: TypeAlias = "list[list[tuple[int, int]]]"


def _edges(system: System) -> tuple[Edges, Graph]:
    """Search the whole graph; list for each row its events and where they lead."""
    graph = Graph(system)
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


def _key_events(system: System, events: list[Event]) -> list[bool]:
    """Mark the faults, and the actions that write durable state."""
    writes = {a.name: _writes_durable(system, a) for a in system.actions}
    return [e.fault or writes[e.name] for e in events]


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


def _dependence(edges: Edges, keys: list[bool]) -> set[tuple[int, int]]:
    """List the pairs of key events that may not change places.

    A pair may when it was met, and wherever one followed the other the two could
    be taken the other way round, to the same state.
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
        (a, b) for a in names for b in names if (a, b) in bound or (a, b) not in met
    }


def _normal(word: Word, apart: set[tuple[int, int]]) -> Word:
    """Give the first word, in order of events, that is equal up to commutation."""
    left = list(word)
    made: list[int] = []
    while left:
        free = [
            i
            for i, e in enumerate(left)
            if not any((f, e) in apart or f == e for f in left[:i])
        ]
        made.append(left.pop(min(free, key=lambda i: left[i])))
    return tuple(made)


Back: TypeAlias = "list[dict[Word, tuple[int, Word, int]]]"


def _words(
    graph: Graph,
    edges: Edges,
    order: list[int],
    keys: list[bool],
    apart: set[tuple[int, int]],
) -> tuple[list[dict[Word, int]], Back]:
    """Count the paths to each row by normal word, and keep one step back of each."""
    reached: list[dict[Word, int]] = [{} for _ in edges]
    back: Back = [{} for _ in edges]
    for row in range(graph.levels[1]):
        reached[row][()] = 1
    normal: dict[Word, Word] = {}
    for row in order:
        for event, to in edges[row]:
            for word, size in reached[row].items():
                longer = word
                if keys[event]:
                    raw = (*word, event)
                    if raw not in normal:
                        normal[raw] = _normal(raw, apart)
                    longer = normal[raw]
                if longer not in reached[to]:
                    back[to][longer] = (row, word, event)
                reached[to][longer] = reached[to].get(longer, 0) + size
    return reached, back


def _path(graph: Graph, back: Back, row: int, word: Word) -> Trace:
    unpack = graph.layout.unpack
    steps = []
    while word in back[row]:
        before, shorter, event = back[row][word]
        steps.append((graph.events[event], unpack(graph.states[row].tolist())))
        row, word = before, shorter
    return Trace(unpack(graph.states[row].tolist()), tuple(steps[::-1]))


def _number(graph: Graph, event: Event) -> int:
    return graph.events.index(event)


def _struck(graph: Graph, edges: Edges, durable: Durable) -> frozenset[State]:
    rows = (
        row
        for row, out in enumerate(edges)
        if any(graph.events[e].fault for e, _ in out)
    )
    return frozenset(
        durable.of(graph.layout.unpack(graph.states[row].tolist())) for row in rows
    )


class _Namer:
    """Renames the members of symmetric sorts in a word, to its first form."""

    def __init__(
        self, system: System, events: list[Event], apart: set[tuple[int, int]]
    ) -> None:
        self._apart = apart
        sorts = {a.name: tuple(p.type.sort for p in a.params) for a in system.actions}
        numbers = {(e.name, e.members): i for i, e in enumerate(events)}
        self._maps = [
            [
                numbers[e.name, _renamed(e.members, sorts[e.name], naming)]
                for e in events
            ]
            for naming in namings(system)
        ]

    def _forms(self, word: Word) -> Iterator[Word]:
        for renaming in self._maps:
            yield _normal(tuple(renaming[e] for e in word), self._apart)

    def canonical(self, word: Word) -> Word:
        """Give the first form of the word."""
        return min(self._forms(word))
