"""Claims about fair runs: refuted by a lasso, a stem and what then goes on for ever.

A run is infinite, or stays for ever in a state. It is weakly fair to an event when,
again and again, the event happens or could not change anything. A run that breaks
"given leads to then" ends up inside a strongly connected piece of the states where
"then" is false; such a piece has a fair run if, for every fair event, it has a state
where the event could change nothing, or a step that is the event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.fairness.cycle import FairCycle
from onceproof.model.search.fairness.step_graph import (
    PER_STATE,
    PER_STEP,
    StepGraph,
    narrow,
    starved_pieces,
)
from onceproof.model.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from onceproof.model.search.queries import SearchQuery
    from onceproof.model.search.states.claim_flags import Flags
    from onceproof.model.search.visited_states import VisitedStates


def refuting_lasso(
    graph: VisitedStates,
    question: SearchQuery,
    flags: Flags,
    hold: Callable[[int], None],
) -> Trace | None:
    """Find a fair run that breaks a claim, or None if there is none.

    ``flags`` are those of every state found. ``hold`` is told how many bytes this takes
    beside what the search holds, and raises ``TooLargeError`` where that is too much.
    """
    avoiding = ~flags.holds(question.term)
    if question.given is None:
        begins = np.arange(graph.levels[1])
    else:
        begins = np.flatnonzero(flags.holds(question.given))
    begins = begins[avoiding[begins]]
    if not len(begins):
        return None
    runs = _Runs(graph, avoiding, hold)
    way = runs.way_to_a_fair_piece(begins.tolist())
    if way is None:
        return None
    first, steps = way
    stem = [*graph.path_to(first), *steps]
    last = stem[-1][1]
    return _trace(graph, stem, runs.round_trip(last))


class _Runs:
    """The part of a graph where a claim is false, cut into connected pieces."""

    def __init__(
        self,
        graph: VisitedStates,
        avoiding: NDArray[np.bool_],
        hold: Callable[[int], None],
    ) -> None:
        self._fair = np.array([e.fair for e in graph.events], bool)
        # An event that can change something is there as a step, wherever it leads.
        self._every = steps_of(graph, hold)
        self._inside = self._every.within(avoiding)
        self._piece = self._inside.pieces()
        starved = starved_pieces(self._piece, self._every, self._inside, self._fair)
        self._fair_pieces = np.ones(int(self._piece.max()) + 1, bool)
        self._fair_pieces[starved] = False

    def way_to_a_fair_piece(
        self, begins: list[int]
    ) -> tuple[int, list[tuple[int, int]]] | None:
        """Return a shortest path from a beginning; of two, from the first found."""
        return self._inside.shortest(
            begins, lambda row: bool(self._fair_pieces[self._piece[row]])
        )

    def round_trip(self, home: int) -> list[tuple[int, int]]:
        """Go round the piece of ``home``, fair to every event, and come back."""
        piece = self._piece[home]

        def inner(row: int) -> list[tuple[int, int]]:
            steps = self._inside.leaving(row)
            return [(e, d) for e, d in steps if self._piece[d] == piece]

        def path(
            at: int, ends: Callable[[int], bool]
        ) -> tuple[int, list[tuple[int, int]]] | None:
            here = self._piece
            return self._inside.shortest([at], ends, lambda row: here[row] == piece)

        fair = np.flatnonzero(self._fair).tolist()
        return FairCycle(fair, self._every.has, inner, path).round_trip(home)


def steps_of(graph: VisitedStates, hold: Callable[[int], None]) -> StepGraph:
    """Return all steps between the states that were found."""
    rows, steps = graph.count, 0
    fixed = rows * PER_STATE + graph.slot_count * 8
    hold(fixed)
    row_of = graph.row_numbers()
    parts = []
    for made in graph.sweep(0, rows):
        steps += len(made.sources)
        hold(fixed + steps * PER_STEP)
        columns = made.sources, made.events, row_of[graph.slots(made.states)]
        parts.append(narrow(*columns))
    return StepGraph.joined(parts, rows)


def _trace(
    graph: VisitedStates, stem: list[tuple[int, int]], cycle: list[tuple[int, int]]
) -> Trace:
    (_, first), *rest = stem
    unpack = graph.layout.unpack
    steps = tuple(
        (graph.events[event], unpack(graph.states[row].tolist()))
        for event, row in (*rest, *cycle)
    )
    return Trace(unpack(graph.states[first].tolist()), steps, loop=len(rest))
