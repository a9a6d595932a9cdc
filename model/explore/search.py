"""Exhaustive breadth-first search over packed states.

States are kept in the order of their discovery, so levels are slices and a
counterexample's path is worked out backwards, level by level, without a table of
parents. Memory grows with the states found.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.explore.generate import REST_BIT, expander_ir, instances
from onceproof.model.explore.layout import Layout
from onceproof.model.explore.native import Compiled
from onceproof.model.language.plain import Reference
from onceproof.model.language.steps import Event
from onceproof.model.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from onceproof.model.language import terms as t
    from onceproof.model.language.trace import System

    Words = NDArray[np.int64]

_ROOM = 1 << 17
_FIRST_SLOTS = 1 << 12


@dataclass(frozen=True)
class Question:
    """A claim to be settled: ``when`` says of which states, or steps, it speaks."""

    name: str
    when: str
    term: t.Term


@dataclass(frozen=True)
class Answer:
    """What the search found about one question.

    ``verdict`` is one of exhausted, refuted, undecided, vacuous; ``trace`` is the
    shortest that refutes the claim, or that witnesses a ``sometimes``.
    """

    question: Question
    verdict: str
    trace: Trace | None = None


@dataclass(frozen=True)
class Limits:
    """Where a search gives up: so many states, or bytes."""

    states: int | None = None
    memory: int | None = None


@dataclass
class Exploration:
    """The outcome of a search. ``depth`` counts the initial states as 1."""

    distinct: int = 0
    generated: int = 0
    depth: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0
    stopped: str = ""
    answers: list[Answer] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every reachable state was seen."""
        return not self.stopped


class Graph:
    """The reachable states of a system, found so far, in order of discovery."""

    def __init__(self, system: System, questions: Sequence[Question] = ()) -> None:
        """Compile the system; nothing is searched yet."""
        from onceproof.model.explore import kernels  # noqa: PLC0415 - compiles on import

        self.system = system
        self.reference = Reference(system.protocol)
        self.layout = Layout(system.fields, system.sizes)
        self._kernels = kernels
        self._state_claims = [q for q in questions if q.when != "step"]
        self._step_claims = [q for q in questions if q.when == "step"]
        began = time.perf_counter()
        source = expander_ir(
            system,
            self.layout,
            [q.term for q in self._state_claims],
            [q.term for q in self._step_claims],
        )
        self._expand = Compiled(source, "expand")
        width = self.layout.words
        self.events = [
            Event(a.name, members, a.fault)
            for a in system.actions
            for members in _tuples(system, a)
        ]
        most = max(1, sum(instances(system, a) for a in system.actions))
        self._chunk = max(16, min(4096, _ROOM // most))
        self._out = np.empty((self._chunk * most, width), np.int64)
        self._acts = np.empty(self._chunk * most, np.int64)
        self._srcs = np.empty(self._chunk * most, np.int64)
        self._flags = np.zeros(self._chunk, np.int64)
        self._made = np.zeros(2, np.int64)
        self.broken = np.full((len(self._step_claims) + 1, 2), -1, np.int64)
        self.states: Words = np.empty((1024, width), np.int64)
        self._table: Words = np.full((_FIRST_SLOTS, width), kernels.EMPTY, np.int64)
        self.count = 0
        self.levels = [0]
        self._insert = kernels.insert_one if width == 1 else kernels.insert_many
        self._insert(self._table, self._shift, self._out, 0, self.states, 0)
        self.expand(0, 0)
        self.compile_seconds = time.perf_counter() - began

    @property
    def _shift(self) -> int:
        return 64 - (len(self._table).bit_length() - 1)

    @property
    def memory(self) -> int:
        """Bytes held for states and table."""
        return int(self.states.nbytes + self._table.nbytes)

    def expand(self, lo: int, hi: int) -> tuple[Words, Words, Words, Words, int]:
        """Expand rows ``lo`` to ``hi``, at most a chunk.

        Gives successors, event numbers, source rows, flags per source row, and how
        many were generated. The arrays are valid until the next call.
        """
        self._expand(
            self.states,
            lo,
            hi,
            self._out,
            self._acts,
            self._srcs,
            self._flags,
            self.broken,
            self._made,
        )
        made, generated = (int(n) for n in self._made)
        return (
            self._out[:made],
            self._acts[:made],
            self._srcs[:made],
            self._flags[: hi - lo],
            generated,
        )

    def chunks(self, lo: int, hi: int) -> list[tuple[int, int]]:
        """Cut rows ``lo`` to ``hi`` into pieces that ``expand`` takes."""
        return [(a, min(hi, a + self._chunk)) for a in range(lo, hi, self._chunk)]

    def add(self, rows: Words, number: int) -> None:
        """Add those of the first ``number`` rows that are new."""
        self._make_room(number)
        self.count, _ = self._insert(
            self._table, self._shift, rows, number, self.states, self.count
        )

    def start(self) -> int:
        """Add the initial states; answer how many were generated."""
        rows = [self.layout.pack(s) for s in self.reference.initial_states()]
        self.add(np.array(rows, np.int64).reshape(len(rows), -1), len(rows))
        self.levels = [0, self.count]
        return len(rows)

    def slots(self, rows: Words) -> Words:
        """Give a number for each row, the same for the same state."""
        slots = np.empty(len(rows), np.int64)
        self._kernels.find_all(self._table, self._shift, rows, len(rows), slots)
        return slots

    @property
    def slot_count(self) -> int:
        """One more than the largest number that ``slots`` can answer."""
        return len(self._table)

    def path_to(self, row: int) -> list[tuple[int, int]]:
        """Give a shortest path to a row: pairs of event number and row reached."""
        path: list[tuple[int, int]] = []
        while row >= self.levels[1]:
            level = next(i for i, end in enumerate(self.levels) if end > row) - 1
            event, source = self._into(row, level)
            path.append((event, row))
            row = source
        path.append((-1, row))
        return path[::-1]

    def _into(self, row: int, level: int) -> tuple[int, int]:
        wanted = self.states[row].copy()
        for lo, hi in self.chunks(self.levels[level - 1], self.levels[level]):
            out, acts, srcs, _, _ = self.expand(lo, hi)
            hits = np.flatnonzero((out == wanted).all(axis=1))
            if len(hits):
                return int(acts[hits[0]]), int(srcs[hits[0]])
        message = f"state {row} has no predecessor"
        raise RuntimeError(message)

    def trace_to(self, row: int) -> Trace:
        """Give a shortest trace to a row."""
        (_, first), *rest = self.path_to(row)
        unpack = self.layout.unpack
        return Trace(
            unpack(self.states[first].tolist()),
            tuple(
                (self.events[event], unpack(self.states[at].tolist()))
                for event, at in rest
            ),
        )

    def trace_through(self, row: int, successor: int) -> Trace:
        """Give a shortest trace to a row, and on by one of its successors."""
        trace = self.trace_to(row)
        out, acts, _, _, _ = self.expand(row, row + 1)
        last = self.layout.unpack(out[successor].tolist())
        step = (self.events[int(acts[successor])], last)
        return Trace(trace.start, (*trace.steps, step))

    def _make_room(self, coming: int) -> None:
        if self.count + coming > len(self.states):
            more = max(2 * len(self.states), self.count + coming)
            grown = np.empty((more, self.layout.words), np.int64)
            grown[: self.count] = self.states[: self.count]
            self.states = grown
        slots = len(self._table)
        while (self.count + coming) * 10 > slots * 6:
            slots *= 2
        if slots > len(self._table):
            self._table = np.full(
                (slots, self.layout.words), self._kernels.EMPTY, np.int64
            )
            held = self.count
            self._insert(self._table, self._shift, self.states, held, self.states, 0)


def _tuples(system: System, action: object) -> list[tuple[int, ...]]:
    params = action.params  # type: ignore[attr-defined]
    found: list[tuple[int, ...]] = [()]
    for param in params:
        size = system.sizes[param.type.sort]
        found = [(*head, i) for head in found for i in range(size)]
    return found


def explore(
    system: System,
    questions: Sequence[Question] = (),
    *,
    limits: Limits | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> Exploration:
    """Search every reachable state and settle ``questions`` about them.

    ``progress(distinct, generated, depth)`` is called now and then. A search that
    meets its limits ends with ``stopped`` saying which, and every question that it
    has not refuted is undecided.
    """
    limits = limits or Limits()
    graph = Graph(system, questions)
    result = Exploration(compile_seconds=graph.compile_seconds)
    began = time.perf_counter()
    finder = _Finder(graph, questions)
    result.generated = graph.start()
    while graph.levels[-1] > graph.levels[-2] and not result.stopped:
        for lo, hi in graph.chunks(graph.levels[-2], graph.levels[-1]):
            out, _, _, flags, generated = graph.expand(lo, hi)
            finder.look(lo, flags)
            result.generated += generated
            graph.add(out, len(out))
            result.stopped = _over(graph, limits)
            if progress:
                progress(graph.count, result.generated, len(graph.levels) - 1)
            if result.stopped:
                break
        graph.levels.append(graph.count)
    result.distinct = graph.count
    result.depth = len(graph.levels) - 2
    result.answers = finder.answers(complete=result.complete)
    result.seconds = time.perf_counter() - began
    return result


def _over(graph: Graph, limits: Limits) -> str:
    if limits.states is not None and graph.count > limits.states:
        return f"more than {limits.states:,} states"
    if limits.memory is not None and graph.memory > limits.memory:
        return f"more than {limits.memory:,} bytes of memory"
    return ""


class _Finder:
    """Watches the flags of states as they are expanded, and settles questions."""

    def __init__(self, graph: Graph, questions: Sequence[Question]) -> None:
        self._graph = graph
        self._questions = list(questions)
        self._state_claims = [q for q in questions if q.when != "step"]
        self._step_claims = [q for q in questions if q.when == "step"]
        self._first: dict[str, int] = {}
        self._through: dict[str, tuple[int, int, int]] = {}
        self._rested = False
        self._flags: list[Words] = []
        self._goals = [q for q in questions if q.when == "recoverable"]

    def look(self, lo: int, flags: Words) -> None:
        """Take in the flags of the rows from ``lo`` on."""
        rests = (flags >> REST_BIT) & 1 == 1
        self._rested = self._rested or bool(rests.any())
        for bit, question in enumerate(self._state_claims):
            if question.name in self._first or question.when == "recoverable":
                continue
            held = (flags >> bit) & 1 == 1
            found = {
                "sometimes": held,
                "always": ~held,
                "at_rest": ~held & rests,
            }[question.when]
            if found.any():
                self._first[question.name] = lo + int(np.argmax(found))
        if self._goals:
            self._flags.append(flags.copy())

    def answers(self, *, complete: bool) -> list[Answer]:
        """Settle every question."""
        for number, question in enumerate(self._step_claims):
            row, _ = self._graph.broken[number]
            if row >= 0:
                self._graph.broken[:] = -1
                self._graph.expand(int(row), int(row) + 1)
                successor = int(self._graph.broken[number, 1])
                self._through[question.name] = (int(row), successor, number)
        return [self._answer(q, complete=complete) for q in self._questions]

    def _answer(self, question: Question, *, complete: bool) -> Answer:
        graph = self._graph
        if question.name in self._through:
            row, successor, _ = self._through[question.name]
            return Answer(question, "refuted", graph.trace_through(row, successor))
        if question.name in self._first:
            trace = graph.trace_to(self._first[question.name])
            witness = question.when == "sometimes"
            return Answer(question, "exhausted" if witness else "refuted", trace)
        if not complete:
            return Answer(question, "undecided")
        if question.when == "sometimes":
            return Answer(question, "vacuous")
        if question.when == "at_rest" and not self._rested:
            return Answer(question, "vacuous")
        if question.when == "recoverable":
            return self._recoverable(question)
        return Answer(question, "exhausted")

    def _recoverable(self, question: Question) -> Answer:
        """Find a state from which rest with the claim true is out of reach.

        Works backwards to a fixed point: a state can recover if it is the goal, or
        an action (no fault) leads to one that can.
        """
        graph = self._graph
        bit = self._state_claims.index(question)
        flags = np.concatenate(self._flags)
        rests = (flags >> REST_BIT) & 1 == 1
        can = rests & ((flags >> bit) & 1 == 1)
        marked = np.zeros(graph.slot_count, bool)
        marked[graph.slots(graph.states[: graph.count][can])] = True
        calm = np.array([not e.fault for e in graph.events] or [True])
        pieces = graph.chunks(0, graph.count)[::-1]
        moved = True
        while moved:
            moved = False
            for lo, hi in pieces:
                if can[lo:hi].all():
                    continue
                out, acts, srcs, _, _ = graph.expand(lo, hi)
                good = calm[acts] & marked[graph.slots(out)]
                rows = np.unique(srcs[good])
                rows = rows[~can[rows]]
                if len(rows):
                    moved = True
                    can[rows] = True
                    marked[graph.slots(graph.states[rows])] = True
        if can.all():
            return Answer(question, "exhausted")
        return Answer(question, "refuted", graph.trace_to(int(np.argmin(can))))
