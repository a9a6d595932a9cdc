"""Random walks, for models too large to search: what is found is real, and no more."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.durable_coverage import DurableCoverage, curve
from onceproof.model.search.queries import SearchResult, refuse_doubles
from onceproof.model.search.visited_states import VisitedStates
from onceproof.model.search.walk_watch import Path, WalkWatch, answers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.queries import SearchQuery

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
    guided: bool = False
    """Whether walks were guided to durable states that were not met yet."""
    distinct: int = 0
    """How many distinct states were met."""
    durable: int = 0
    """How many distinct durable states were met: what outlives a crash, or is observed.
    """
    curve: list[tuple[int, int]] = field(default_factory=list)
    """How many durable states were met after how many steps: each time that steps
    doubled, and at the end."""
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
    result.durable = len(walker.coverage.met)
    result.curve = curve(walker.coverage.met.values(), walker.steps)
    result.taken = int(walker.taken.sum())
    result.never_taken = graph.steps_without(walker.taken)
    result.answers = answers(
        graph,
        questions,
        walker.watch.shown,
        moved=walker.steps > 0,
        rested=walker.watch.rested,
    )
    result.seconds = time.perf_counter() - began
    return result


class _Walker:
    """Lets walks go side by side, and watches what they meet."""

    def __init__(self, graph: VisitedStates, questions: Sequence[SearchQuery]) -> None:
        self._graph = graph
        self.watch = WalkWatch(graph, questions)
        self.coverage = DurableCoverage(graph.system, graph.layout)
        self.coverage.take(graph.states[: graph.count])
        self.steps = 0
        self.taken = np.zeros(len(graph.events), bool)

    def walk(self, rows: Words, depth: int, random: np.random.Generator) -> None:
        """Walk from each of ``rows``, for ``depth`` steps or to rest."""
        graph = self._graph
        starts, events = rows.copy(), np.full((depth, len(rows)), -1, np.int64)
        alive = np.arange(len(rows))
        for at in range(depth + 1):

            def path_of(row: int, at: int = at, alive: Words = alive) -> Path:
                walk = int(alive[row])
                taken = events[:at, walk].tolist()
                return Path(tuple(starts[walk].tolist()), tuple(taken))

            graph.broken[:] = -1
            made = graph.expand_rows(rows[alive])
            self.watch.look(made.flags, path_of)
            if at == depth or not len(made.sources):
                break
            self.watch.look_at_steps(made.events, path_of)
            # One of each walk's steps, each as likely as the others.
            order = np.lexsort((random.random(len(made.sources)), made.sources))
            first = order[np.flatnonzero(np.diff(made.sources[order], prepend=-1))]
            alive = alive[made.sources[first]]
            rows[alive] = made.states[first]
            events[at, alive] = made.events[first]
            self.taken[made.events[first]] = True
            self.steps += len(alive)
            graph.add(rows[alive])
            self.coverage.take(rows[alive], self.steps)
