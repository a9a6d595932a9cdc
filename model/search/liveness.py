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

from onceproof.model.search.fairness.cycle import FairCycle, shortest
from onceproof.model.traces import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onceproof.model.search.queries import SearchQuery
    from onceproof.model.search.states.claim_flags import Flags
    from onceproof.model.search.visited_states import VisitedStates

    Words = NDArray[np.int64]
    Steps = dict[int, list[tuple[int, int]]]


def refuting_lasso(
    graph: VisitedStates, question: SearchQuery, flags: Flags
) -> Trace | None:
    """Find a fair run that breaks a claim about runs, or None if there is none.

    ``flags`` are those of every state found.
    """
    avoiding = ~flags.holds(question.term)
    if question.given is None:
        begins = np.arange(graph.levels[1])
    else:
        begins = np.flatnonzero(flags.holds(question.given))
    begins = begins[avoiding[begins]]
    if not len(begins):
        return None
    runs = _Runs(graph, avoiding)
    way = runs.way_to_a_fair_piece(begins.tolist())
    if way is None:
        return None
    first, steps = way
    stem = [*graph.path_to(first), *steps]
    last = stem[-1][1]
    return _trace(graph, stem, runs.round_trip(last))


class _Runs:
    """The part of a graph where a claim is false, cut into connected pieces."""

    def __init__(self, graph: VisitedStates, avoiding: NDArray[np.bool_]) -> None:
        # Its import takes a third of the start of a command.
        from scipy.sparse import coo_array  # noqa: PLC0415
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

        self._fair = np.array([e.fair for e in graph.events], bool)
        sources, events, targets = graph.edges()
        # An event that can change something is there as a step, wherever it leads.
        able = self._fair[events]
        self._able = {
            (int(s), int(e)) for s, e in zip(sources[able], events[able], strict=True)
        }
        inside = avoiding[sources] & avoiding[targets]
        self._sources, self._events = sources[inside], events[inside]
        self._targets = targets[inside]
        size = graph.count
        links = coo_array(
            (np.ones(len(self._sources), np.int8), (self._sources, self._targets)),
            shape=(size, size),
        )
        _, self._piece = connected_components(links, connection="strong")
        self._steps: Steps = {}
        for s, e, d in zip(
            *(c.tolist() for c in (self._sources, self._events, self._targets)),
            strict=True,
        ):
            self._steps.setdefault(s, []).append((e, d))
        self._fair_pieces = self._find_fair_pieces(sources[able], events[able])

    def _find_fair_pieces(self, sources: Words, events: Words) -> NDArray[np.bool_]:
        """Mark the pieces that have a fair run."""
        sizes = np.bincount(self._piece)
        kinds = len(self._fair)
        always = np.bincount(
            self._piece[sources] * kinds + events, minlength=len(sizes) * kinds
        ).reshape(len(sizes), kinds)
        within = self._piece[self._sources] == self._piece[self._targets]
        taken = np.zeros((len(sizes), kinds), bool)
        taken[self._piece[self._sources[within]], self._events[within]] = True
        starved = (always == sizes[:, None]) & ~taken & self._fair
        fair: NDArray[np.bool_] = ~starved.any(axis=1)
        return fair

    def way_to_a_fair_piece(
        self, begins: list[int]
    ) -> tuple[int, list[tuple[int, int]]] | None:
        """Return a shortest path from a beginning; of two, from the first found."""
        return shortest(
            begins,
            lambda row: bool(self._fair_pieces[self._piece[row]]),
            lambda row: self._steps.get(row, []),
        )

    def round_trip(self, home: int) -> list[tuple[int, int]]:
        """Go round the piece of ``home``, fair to every event, and come back."""
        piece = self._piece[home]

        def inner(row: int) -> list[tuple[int, int]]:
            steps = self._steps.get(row, [])
            return [(e, d) for e, d in steps if self._piece[d] == piece]

        fair = np.flatnonzero(self._fair).tolist()
        able = self._able
        return FairCycle(fair, lambda r, e: (r, e) in able, inner).round_trip(home)


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
