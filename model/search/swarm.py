"""Guided walks in two processes, each with a seed of its own; what they met is joined.

What comes out depends on the seed, and not on how many processes there are.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.errors import OnceproofError
from onceproof.model.search.durable_coverage import DurableCoverage, curve
from onceproof.model.search.guided_walks import GuidedWalker
from onceproof.model.search.queries import refuse_doubles
from onceproof.model.search.simulation import Simulation
from onceproof.model.search.visited_states import VisitedStates
from onceproof.model.search.walk_watch import WalkWatch, answers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from numpy.typing import NDArray

    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.queries import SearchQuery
    from onceproof.model.search.walk_watch import Path

    Progress = Callable[[int, int, int], None]

_SWARMS = 2


@dataclass(frozen=True)
class _Met:
    """What one swarm met."""

    states: NDArray[np.int64]
    durable: dict[bytes, int]
    steps: int
    taken: NDArray[np.bool_]
    shown: dict[str, Path]
    rested: bool


def swarm(
    system: System,
    questions: Sequence[SearchQuery] = (),
    *,
    walks: int,
    depth: int,
    seed: int,
    progress: Progress | None = None,
) -> Simulation:
    """Make guided walks (see ``guided_walks.py``), and judge as ``simulate`` does.

    ``progress`` is called for the walks of this process alone. Raises
    ``OnceproofError`` if the other process ends before it has answered.
    """
    refuse_doubles(questions)
    graph = VisitedStates(system, questions)
    result = Simulation(walks, depth, seed, guided=True, events=len(graph.events))
    began = time.perf_counter()
    graph.start()
    first = walks - walks // _SWARMS
    other = _Elsewhere(graph, questions, walks - first, depth, (seed, 1))
    try:
        mine = _walked(graph, questions, first, depth, (seed, 0), progress)
        met = [mine, other.met()]
    finally:
        other.end()
    graph.add(met[1].states)
    result.distinct = graph.count
    result.steps = sum(one.steps for one in met)
    durable = _joined(met[0].durable, met[1].durable)
    result.durable = len(durable)
    result.curve = curve(durable.values(), result.steps)
    taken = met[0].taken | met[1].taken
    result.taken = int(taken.sum())
    result.never_taken = graph.steps_without(taken)
    result.answers = answers(
        graph,
        questions,
        met[1].shown | met[0].shown,
        moved=result.steps > 0,
        rested=any(one.rested for one in met),
    )
    result.seconds = time.perf_counter() - began
    return result


def _walked(
    graph: VisitedStates,
    questions: Sequence[SearchQuery],
    walks: int,
    depth: int,
    seed: tuple[int, int],
    progress: Progress | None = None,
) -> _Met:
    watch = WalkWatch(graph, questions)
    coverage = DurableCoverage(graph.system, graph.layout)
    walker = GuidedWalker(graph, watch, coverage, np.random.default_rng(seed))
    walker.walk(walks, depth, progress)
    return _Met(
        graph.states[: graph.count].copy(),
        coverage.met,
        walker.steps,
        walker.taken,
        watch.shown,
        watch.rested,
    )


def _joined(one: dict[bytes, int], other: dict[bytes, int]) -> dict[bytes, int]:
    """Say after how many steps of both swarms, side by side, each state was met."""
    either = {
        key: steps for key, steps in other.items() if steps < one.get(key, steps + 1)
    }
    return {key: _SWARMS * steps for key, steps in (one | either).items()}


class _Elsewhere:
    """The second swarm: in a process of its own, or later where none can be forked."""

    def __init__(
        self,
        graph: VisitedStates,
        questions: Sequence[SearchQuery],
        walks: int,
        depth: int,
        seed: tuple[int, int],
    ) -> None:
        self._words = (questions, walks, depth, seed)
        self._graph = graph
        self._process: BaseProcess | None = None
        # A fork of a process with several threads may wait for ever for their locks.
        if sys.platform == "linux" and threading.active_count() == 1:
            context = multiprocessing.get_context("fork")
            self._answer, answering = context.Pipe(duplex=False)
            self._process = context.Process(
                target=self._answered, args=(answering,), daemon=True
            )
            self._process.start()
            answering.close()

    def _answered(self, answering: Connection) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process ends this one
        begun_by = os.getppid()

        def progress(_distinct: int, _steps: int, _depth: int) -> None:
            if os.getppid() != begun_by:
                os._exit(1)

        answering.send(_walked(self._graph, *self._words, progress))

    def met(self) -> _Met:
        """Wait for what it met."""
        if self._process is None:
            graph = VisitedStates(self._graph.system, self._words[0])
            graph.start()
            return _walked(graph, *self._words)
        try:
            found: _Met = self._answer.recv()
        except EOFError:
            self._process.join()
            message = (
                "a process of the walks ended before it answered, with status "
                f"{self._process.exitcode}; nothing is judged"
            )
            raise OnceproofError(message) from None
        return found

    def end(self) -> None:
        """Let no process be left."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._answer.close()
