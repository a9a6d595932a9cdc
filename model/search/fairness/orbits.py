"""Claims about fair runs under symmetry: an orbit of states stands for all of them.

Fairness is to each event, and so to each member, while an orbit forgets who is who. A
connected piece of orbits is the image of connected pieces of states that differ only in
names; each of them goes through all of its orbits and steps. So the events that starve
in one of these pieces are found with a mark: states together with one event are brought
to one form (see ``marks.py``), and form connected pieces again. An event starves where
such a piece has no state in which the event could change nothing, and no step that is
the event. These are the images of a piece of states with one of its events, so nothing
is lost, whatever the number of members is. Emerson and Sistla, Utilizing symmetry when
model checking under fairness assumptions, 1997, show it with indices in place of marks.

What a claim names, such as one participant, is marked, too. A run that refutes a claim
is made of states with concrete members, and checked in plain Python.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.errors import TooLargeError, UsageError
from onceproof.model.search.fairness.cycle import FairCycle
from onceproof.model.search.fairness.marks import (
    MarkedStates,
    members_named,
    of_marked,
    placements,
)
from onceproof.model.search.fairness.step_graph import (
    PER_STATE,
    PER_STEP,
    StepGraph,
    narrow,
)
from onceproof.model.search.native.expander import instances
from onceproof.model.search.queries import SearchQuery, SearchResult
from onceproof.model.search.renamings import interchangeable
from onceproof.model.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from onceproof.model.language.interpreter import State
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.steps import Event
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.states.claim_flags import Flags
    from onceproof.model.search.visited_states import VisitedStates

    Words = NDArray[np.int64]
    Rows = NDArray[np.int32]
    Truths = NDArray[np.bool_]
    Path = list[tuple[int, int]]

MOST = 1 << 25
"""The most pairs of an orbit and an event that are looked at."""


class OrbitJudge:
    """Settles claims about fair runs on all orbits that a search has found."""

    def __init__(self, graph: VisitedStates, hold: Callable[[int], None]) -> None:
        """Nothing is settled yet.

        ``hold`` is told how many bytes this takes beside what the search holds, and
        raises ``TooLargeError`` where that is too much.
        """
        self._graph = graph
        self._hold = hold
        fair = (a for a in graph.system.actions if a.fair)
        self._events = sum(instances(graph.system, action) for action in fair)
        self._known: dict[object, tuple[_Orbits, Path | None]] = {}

    def settle(self, question: SearchQuery) -> SearchResult:
        """Settle a claim. It is undecided, with a note, if marks take too much room.

        Claims that differ only in the members that they name are looked at once.
        """
        system = self._graph.system
        named = members_named(question.terms, interchangeable(system))
        term = of_marked(question.term, named)
        given = question.given
        given = None if given is None else of_marked(given, named)
        asked = SearchQuery(question.name, question.when, term, given)
        sorts = tuple(sort for sort, _ in named)
        key = (question.when, term, given, sorts)
        try:
            if key not in self._known:
                self._known[key] = self._looked(
                    _Orbits(self._graph, asked, sorts, self._hold)
                )
            orbits, path = self._known[key]
        except (UsageError, TooLargeError) as problem:
            return SearchResult(question, "undecided", note=str(problem))
        if given is not None and not orbits.given.any():
            return SearchResult(question, "vacuous")
        if path is None:
            return SearchResult(question, "exhausted")
        trace = orbits.concrete(path, [member for _, member in named])
        return SearchResult(question, "refuted", trace)

    def _looked(self, orbits: _Orbits) -> tuple[_Orbits, Path | None]:
        if orbits.count * max(1, self._events) > MOST:
            message = (
                f"{orbits.count:,} orbits and {self._events} fair events are too many "
                "to find under symmetry which events starve; choose smaller sizes, or "
                "search without symmetry"
            )
            raise TooLargeError(message)
        return orbits, orbits.fair_path()


class _Orbits:
    """All orbits with marks for what a claim names, and the steps between them."""

    def __init__(
        self,
        graph: VisitedStates,
        asked: SearchQuery,
        sorts: tuple[Sort, ...],
        hold: Callable[[int], None],
    ) -> None:
        """Find them. ``asked`` is of members with marks, which are of ``sorts``."""
        self._hold = hold
        self._system, self._interpreter = graph.system, graph.interpreter
        self._marked = MarkedStates(graph.system, sorts, questions=[asked])
        self._starts = self._add(graph, sorts)
        here = self._marked.graph
        self.count = here.count
        self._row_of = here.row_numbers()
        steps: list[tuple[Rows, Rows, Rows]] = []
        seen: list[Flags] = []
        taken = self.memory
        for made in here.sweep(0, here.count):
            columns = made.sources, made.events, self._row_of[here.slots(made.states)]
            steps.append(narrow(*columns))
            seen.append(made.flags.copy())
            taken += len(made.sources) * PER_STEP + 2 * made.flags.rows.nbytes
            hold(taken)
        self._every = StepGraph.joined(steps, self.count)
        self._taken = taken
        flags = here.flags.joined(seen)
        self._avoiding = ~flags.holds(asked.term)
        self.given = np.zeros(self.count, bool)
        if asked.given is None:
            self.given[self._starts] = True
        else:
            self.given = flags.holds(asked.given)
        self._inside = self._every.within(self._avoiding)
        self._piece = self._inside.pieces()

    @property
    def memory(self) -> int:
        """Bytes of the orbits, and of what is noted of each."""
        here = self._marked.graph
        return here.memory_for(0) + here.count * PER_STATE + here.slot_count * 8

    def _add(self, graph: VisitedStates, sorts: tuple[Sort, ...]) -> Words:
        """Add all orbits with marks; return the rows of those that begin a run."""
        marked, first = self._marked, []
        rows = graph.states[: graph.count]
        for members in placements(sorts, graph.system.sizes):
            new = marked.marked(rows, graph.layout, dict(enumerate(members)))
            self._hold(marked.graph.memory_for(len(new)) + new.nbytes)
            marked.graph.add(new)
            first.append(new[: graph.levels[1]])
        row_of = marked.graph.row_numbers()
        slots = [marked.graph.slots(np.ascontiguousarray(some)) for some in first]
        return np.unique(row_of[np.concatenate(slots)])

    # Which pieces are fair ----------------------------------------------------------

    def fair_path(self) -> Path | None:
        """Return a path to an orbit of a fair piece, events and rows; None without one.

        The path goes through an orbit where the claim's premise holds, and from there
        on the claim is false.
        """
        begins = np.flatnonzero(self.given & self._avoiding)
        if not len(begins):
            return None
        fair = self._fair_pieces()
        way = self._inside.shortest(
            begins.tolist(), lambda row: bool(fair[self._piece[row]])
        )
        if way is None:
            return None
        begin, rest = way
        stem = self._every.shortest(self._starts.tolist(), lambda row: row == begin)
        if stem is None:
            message = "an orbit that was found is not reached"
            raise RuntimeError(message)
        first, steps_to = stem
        return [(-1, first), *steps_to, *rest]

    def _fair_pieces(self) -> Truths:
        """Mark the pieces in which no event starves."""
        fair = np.ones(int(self._piece.max()) + 1, bool)
        actions = [a for a in self._system.actions if a.fair]
        if not actions:
            return fair
        watched = _Watched(self._system, actions, self._marked, self._hold_also)
        rows = np.flatnonzero(self._avoiding)
        watched.add(self._marked.graph.states[rows], self._marked)
        starved = watched.starved(self._marked, self._piece)
        fair[starved] = False
        return fair

    def _hold_also(self, more: int) -> None:
        self._hold(self._taken + more)

    # A run with concrete members ----------------------------------------------------

    def concrete(self, path: Path, members: Sequence[int]) -> Trace:
        """Return a run along a path of orbits, and round the piece of its last one.

        ``members`` are those that the claim names.
        """
        (_, first), *rest = path
        state = next(
            s
            for s in self._interpreter.initial_states()
            if self._row(s, members) == first
        )
        start, steps = state, []
        for number, row in rest:
            name = self._marked.graph.events[number].name
            taken, state = self._towards(state, name, row, members)
            steps.append((taken, state))
        piece = self._piece[path[-1][1]]

        def inner(at: State) -> Iterator[tuple[Event, State]]:
            for event, after in self._interpreter.successors(at):
                if after != at and self._in_piece(self._row(after, members), piece):
                    yield event, after

        def able(at: State, event: Event) -> bool:
            return self._interpreter.after(at, event) not in (None, at)

        fair = [event for event in self._interpreter.events() if event.fair]
        cycle = FairCycle(fair, able, inner).round_trip(state)
        for event in fair:
            visited = [state, *(after for _, after in cycle)]
            starved = all(able(at, event) for at in visited)
            if starved and all(taken != event for taken, _ in cycle):
                message = f"{event} starves in a run that was to be fair"
                raise RuntimeError(message)
        return Trace(start, (*steps, *cycle), loop=len(steps))

    def _row(self, state: State, members: Sequence[int]) -> int:
        """Return the orbit of a state, with the members that the claim names."""
        slot = self._marked.graph.slots(self._marked.packed(state, members))
        return int(self._row_of[slot[0]])

    def _in_piece(self, row: int, piece: int) -> bool:
        return bool(self._avoiding[row]) and self._piece[row] == piece

    def _towards(
        self, state: State, name: str, row: int, members: Sequence[int]
    ) -> tuple[Event, State]:
        for event, after in self._interpreter.successors(state):
            if event.name == name and self._row(after, members) == row:
                return event, after
        message = f"no step leads to orbit {row}"
        raise RuntimeError(message)


class _Watched:
    """Orbits of states with one fair event each, which bears a number and marks."""

    def __init__(
        self,
        system: System,
        actions: list[ActionTerm],
        marked: MarkedStates,
        hold: Callable[[int], None],
    ) -> None:
        self._system, self._actions, self._hold = system, actions, hold
        self._lead = len(marked.marks)
        wanted: list[Sort] = []
        for action in actions:
            for param, count in _counted(action):
                while wanted.count(param) < count:
                    wanted.append(param)
        self._wanted = wanted
        self.states = MarkedStates(
            system, [*marked.marks, *wanted], numbers=len(actions)
        )
        self._first: dict[str, int] = {}
        number = 0
        for action in system.actions:
            self._first[action.name] = number
            number += instances(system, action)

    def _marks(self, action: ActionTerm) -> list[int]:
        """Return which mark each parameter of an action has."""
        free = list(enumerate(self._wanted, self._lead))
        found = []
        for param in action.params:
            at = next(i for i, (_, sort) in enumerate(free) if sort == param.type.sort)
            found.append(free.pop(at)[0])
        return found

    def add(self, rows: Words, marked: MarkedStates) -> None:
        """Add orbits with each fair event."""
        for number, action in enumerate(self._actions, 1):
            sizes = [range(self._system.sizes[p.type.sort]) for p in action.params]
            for members in itertools.product(*sizes):
                chosen = dict(zip(self._marks(action), members, strict=True))
                new = self.states.marked(
                    rows, marked.graph.layout, chosen, number=number
                )
                self._hold(self.states.graph.memory_for(len(new)) + 2 * new.nbytes)
                self.states.graph.add(new)

    def starved(self, marked: MarkedStates, piece: Rows) -> Words:
        """Return the pieces in which an event starves."""
        graph = self.states.graph
        rows = graph.states[: graph.count]
        bare = self.states.bare(rows, marked.graph.layout)
        marked.graph.symmetry.reduce(bare, len(bare))  # type: ignore[union-attr]
        home = piece[marked.graph.row_numbers()[marked.graph.slots(bare)]]
        event = self._events(rows)
        row_of = graph.row_numbers()
        # The numbers of both graphs' rows, and what is worked out for each state.
        slots = marked.graph.slot_count + graph.slot_count
        taken_up = graph.memory_for(0) + bare.nbytes + slots * 8
        taken_up += graph.count * (PER_STATE + 32)
        able, taken = np.zeros(graph.count, bool), np.zeros(graph.count, bool)
        links = []
        for made in graph.sweep(0, graph.count):
            targets = row_of[graph.slots(made.states)]
            own = made.events == event[made.sources]
            able[made.sources[own]] = True
            stays = (targets >= 0) & (home[made.sources] == home[targets])
            taken[made.sources[own & stays]] = True
            columns = made.sources[stays], made.events[stays], targets[stays]
            links.append(narrow(*columns))
            taken_up += len(columns[0]) * PER_STEP
            self._hold(taken_up)
        part = StepGraph.joined(links, graph.count).pieces()
        satisfied = np.zeros(int(part.max()) + 1, bool)
        satisfied[part[~able | taken]] = True
        return np.unique(home[~satisfied[part]])

    def _events(self, rows: Words) -> Words:
        """Return the number of the event that is watched in each row."""
        found = np.zeros(len(rows), np.int64)
        numbers = self.states.number(rows)
        for number, action in enumerate(self._actions, 1):
            event = np.zeros(len(rows), np.int64)
            for param, which in zip(action.params, self._marks(action), strict=True):
                size = self._system.sizes[param.type.sort]
                event = event * size + self.states.member(rows, which)
            here = numbers == number
            found[here] = event[here] + self._first[action.name]
        return found


def _counted(action: ActionTerm) -> Iterable[tuple[Sort, int]]:
    sorts = [param.type.sort for param in action.params]
    return [(sort, sorts.count(sort)) for sort in dict.fromkeys(sorts)]
