"""Random walks, for models too large to search: what is found is real, and no more."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

import numpy as np

from onceproof.model.language.declarations.modality import Modality
from onceproof.model.search.queries import SearchResult, refuse_doubles
from onceproof.model.search.visited_states import VisitedStates
from onceproof.model.traces import Trace, follow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.queries import SearchQuery
    from onceproof.model.search.states.claim_flags import Flags

    Words = NDArray[np.int64]

_TOGETHER = 512


@dataclass
class Simulation:
    """The outcome of random walks."""

    walks: int
    """How many walks were made."""
    depth: int
    """The most steps of one walk."""
    seed: int
    """The seed of the random choices."""
    distinct: int = 0
    """How many distinct states were met."""
    steps: int = 0
    """How many steps were taken."""
    taken: int = 0
    """How many of ``events`` happened."""
    events: int = 0
    """How many events the protocol names."""
    seconds: float = 0.0
    """How long the walks took."""
    answers: list[SearchResult] = field(default_factory=list)
    """What was found about each question."""
    never_taken: tuple[str, ...] = ()
    """The actions and faults that never happened."""


def simulate(
    system: System,
    questions: Sequence[SearchQuery] = (),
    *,
    walks: int,
    depth: int,
    seed: int,
    progress: Callable[[int, int, int], None] | None = None,
) -> Simulation:
    """Walk at random from initial states, each step one of those that change something.

    A claim that breaks on the way is refuted, with the walk up to there. Of all else
    nothing is known but that it held: "held", for a ``sometimes`` that it was met.
    Where no walk took a step, whatever is not refuted is undecided.
    """
    refuse_doubles(questions)
    graph = VisitedStates(system, questions)
    result = Simulation(walks, depth, seed, events=len(graph.events))
    began = time.perf_counter()
    random = np.random.default_rng(seed)
    graph.start()
    starts = graph.states[: graph.count].copy()
    walker = _Walker(graph, questions)
    done = 0
    while done < walks:
        number = min(_TOGETHER, walks - done, graph.most_rows)
        walker.walk(starts[random.integers(len(starts), size=number)], depth, random)
        done += number
        if progress:
            progress(graph.count, walker.steps, depth)
    result.distinct, result.steps = graph.count, walker.steps
    result.taken = int(walker.taken.sum())
    result.never_taken = graph.steps_without(walker.taken)
    result.answers = walker.answers()
    result.seconds = time.perf_counter() - began
    return result


@dataclass
class _Walks:
    """Walks that go side by side: where each began, and its events so far."""

    starts: Words
    events: Words

    def trace(self, graph: VisitedStates, walk: int, length: int) -> Trace:
        """Follow the first steps of a walk in plain Python."""
        start = graph.layout.unpack(self.starts[walk].tolist())
        numbers = self.events[:length, walk].tolist()
        return follow(graph.interpreter, start, tuple(graph.events[n] for n in numbers))


class _Walker:
    """Lets walks go, and watches what they meet."""

    def __init__(self, graph: VisitedStates, questions: Sequence[SearchQuery]) -> None:
        self._graph = graph
        self._questions = list(questions)
        self._shown: dict[str, Trace] = {}
        self._rested = False
        self.steps = 0
        self.taken = np.zeros(len(graph.events), bool)

    def walk(self, rows: Words, depth: int, random: np.random.Generator) -> None:
        """Walk from each of ``rows``, for ``depth`` steps or to rest."""
        graph = self._graph
        walks = _Walks(rows.copy(), np.full((depth, len(rows)), -1, np.int64))
        alive = np.arange(len(rows))
        for at in range(depth + 1):
            graph.broken[:] = -1
            made = graph.expand_rows(rows[alive])
            self._look(made.flags, alive, at, walks)
            if at == depth or not len(made.sources):
                break
            self._look_at_steps(made.events, alive, at, walks)
            # One of each walk's steps, each as likely as the others.
            order = np.lexsort((random.random(len(made.sources)), made.sources))
            first = order[np.flatnonzero(np.diff(made.sources[order], prepend=-1))]
            alive = alive[made.sources[first]]
            rows[alive] = made.states[first]
            walks.events[at, alive] = made.events[first]
            self.taken[made.events[first]] = True
            self.steps += len(alive)
            graph.add(rows[alive])

    def _look(self, flags: Flags, alive: Words, at: int, walks: _Walks) -> None:
        """Ask of each state that the walks are in."""
        rests = flags.rests
        self._rested = self._rested or bool(rests.any())
        for question in self._questions:
            if question.name in self._shown:
                continue
            match question.when:
                case Modality.ALWAYS:
                    found = ~flags.holds(question.term)
                case Modality.SOMETIMES:
                    found = flags.holds(question.term)
                case Modality.AT_REST:
                    found = ~flags.holds(question.term) & rests
                case (
                    Modality.STEP
                    | Modality.RECOVERABLE
                    | Modality.EVENTUALLY
                    | Modality.LEADS_TO
                ):
                    continue
                case _:
                    assert_never(question.when)
            if found.any():
                walk = int(alive[np.argmax(found)])
                self._shown[question.name] = walks.trace(self._graph, walk, at)

    def _look_at_steps(
        self, events: Words, alive: Words, at: int, walks: _Walks
    ) -> None:
        """Ask of each step that the walks could take."""
        of_steps = [q for q in self._questions if q.when is Modality.STEP]
        for number, question in enumerate(of_steps):
            row, successor = self._graph.broken[number].tolist()
            if row >= 0 and question.name not in self._shown:
                walk = int(alive[row])
                walks.events[at, walk] = events[successor]
                self._shown[question.name] = walks.trace(self._graph, walk, at + 1)

    def answers(self) -> list[SearchResult]:
        """Settle every question, as far as walks can."""
        return [self._answer(question) for question in self._questions]

    def _answer(self, question: SearchQuery) -> SearchResult:
        shown = self._shown.get(question.name)
        if question.when is Modality.SOMETIMES:
            return SearchResult(question, "held" if shown else "undecided", shown)
        if shown is not None:
            return SearchResult(question, "refuted", shown)
        silent = (
            not self.steps  # walks that went nowhere have shown nothing
            or question.whole
            or (question.when is Modality.AT_REST and not self._rested)
        )
        return SearchResult(question, "undecided" if silent else "held")
