"""Exhaustive breadth-first search, which settles questions about all states."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

import numpy as np

from onceproof.model.errors import TooLargeError
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.search.limits import Limits
from onceproof.model.search.liveness import refuting_lasso
from onceproof.model.search.queries import SearchResult, refuse_doubles
from onceproof.model.search.reduction.goals import why_not
from onceproof.model.search.reduction.stubborn import Reduction
from onceproof.model.search.visited_states import VisitedStates

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from onceproof.model.language.interpreter import State
    from onceproof.model.language.terms.terms import Term
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.fairness.orbits import OrbitJudge
    from onceproof.model.search.queries import SearchQuery
    from onceproof.model.search.states.claim_flags import Flags
    from onceproof.model.traces import Trace

    Words = NDArray[np.int64]

_ALIKE, _MOST_COMPARED = 16, 20_000
_FEW = 4
"""How many events are looked for one by one, which is faster than to note them all."""
_PER_GOAL = 16
"""How many bytes a state takes while it is asked from where a goal can be reached."""


@dataclass
class Exploration:
    """The outcome of an exhaustive search."""

    distinct: int = 0
    """How many distinct states were found."""
    generated: int = 0
    """How many states were generated, duplicates included."""
    depth: int = 0
    """How many levels of states there are, as TLC counts them: one more than
    ``steps``."""
    seconds: float = 0.0
    """How long the search took."""
    memory: int = 0
    """The most bytes that the search held at once: states, their table, successors,
    and the steps between them where a claim about runs is judged."""
    packed: int = 0
    """How many bytes the states take, packed."""
    compile_seconds: float = 0.0
    """How long it took to compile the model."""
    stopped: str = ""
    """Why the search stopped early; empty if it is complete."""
    answers: list[SearchResult] = field(default_factory=list)
    """What was found about each question."""
    kept: list[State] = field(default_factory=list, repr=False)
    """States that were found, from the first to the last, as many as were asked for."""
    never_taken: tuple[str, ...] = ()
    """The actions and faults that changed no state that was found. A reduced search
    names none: what it leaves out may take them."""
    reduced: bool = False
    """Whether a partial-order reduction left states out that no question needs."""
    not_reduced: str = ""
    """Why a reduction that was asked for was not used."""

    @property
    def steps(self) -> int:
        """How many steps the state that is furthest from the start is away from it."""
        return max(0, self.depth - 1)

    @property
    def complete(self) -> bool:
        """Whether every reachable state was seen."""
        return not self.stopped


def explore(
    system: System,
    questions: Sequence[SearchQuery] = (),
    *,
    limits: Limits | None = None,
    symmetry: bool = False,
    progress: Callable[[int, int, int], None] | None = None,
    keep: int = 0,
    reduce: bool = False,
) -> Exploration:
    """Search every reachable state and settle ``questions`` about them.

    ``progress(distinct, generated, steps)`` is called now and then. A search that
    meets its limits ends with ``stopped`` saying which, and every question that it
    has not refuted is undecided. With ``symmetry`` states that differ in the names of
    members alone count once. With ``reduce`` events are left out where no question
    needs them (see ``reduction/stubborn.py``); if a question needs every state, all are
    searched, and ``not_reduced`` says why. Of the states found it gives ``keep``,
    spread evenly.
    """
    refuse_doubles(questions)
    limits = limits or Limits()
    reduction, not_reduced = _reduction(system, questions) if reduce else (None, "")
    graph = VisitedStates(
        system,
        questions,
        symmetry=symmetry,
        conditions=() if reduction is None else reduction.conditions,
    )
    result = Exploration(
        compile_seconds=graph.compile_seconds,
        reduced=reduction is not None,
        not_reduced=not_reduced,
    )
    _search(graph, questions, result, reduction, limits, progress, keep)
    return result


class FaultChoice:
    """A system, compiled once and then searched with some of its faults at a time."""

    def __init__(self, system: System, questions: Sequence[SearchQuery]) -> None:
        """Compile a system with all questions that may be asked about it."""
        refuse_doubles(questions)
        self._graph = VisitedStates(system, questions, choosable=True)

    def explore(
        self,
        faults: Collection[str],
        questions: Sequence[SearchQuery],
        *,
        limits: Limits | None = None,
        keep: int = 0,
    ) -> Exploration:
        """Search as ``explore`` does where no other faults happen than these.

        ``questions`` are some of those that were compiled.
        """
        self._graph.allow(faults)
        result = Exploration(compile_seconds=self._graph.compile_seconds)
        _search(self._graph, questions, result, None, limits or Limits(), None, keep)
        return result


def _search(
    graph: VisitedStates,
    questions: Sequence[SearchQuery],
    result: Exploration,
    reduction: Reduction | None,
    limits: Limits,
    progress: Callable[[int, int, int], None] | None,
    keep: int,
) -> None:
    """Search, and fill in the result."""
    tables = None if reduction is None else reduction.tables(graph.flags)
    began = time.perf_counter()
    finder = _Finder(graph, questions, limits)
    result.generated = graph.start()
    while graph.levels[-1] > graph.levels[-2] and not result.stopped:
        # What a reduction leaves out now may be needed when it is met again.
        level = graph.levels[-2], graph.levels[-1]
        for made in graph.sweep(*level, sifted=tables is None):
            finder.look(made.lo, made.flags)
            finder.note(made.events)
            result.generated += made.generated
            rows = made.states
            if tables is not None:
                rows = graph.sift(rows[tables.needed(made, finder.settled)])
            held = graph.memory_for(len(rows)) + finder.memory
            result.memory = max(result.memory, held)
            full = graph.full_with(len(rows))
            result.stopped = limits.exceeded(graph.count, held) or full
            if not result.stopped:
                graph.add(rows)
                # States whose hashes are alike may have taken more than was expected.
                held = max(held, graph.memory_for(0) + finder.memory)
                result.memory = max(result.memory, held)
                result.stopped = limits.exceeded(graph.count, held)
            if progress:
                progress(graph.count, result.generated, len(graph.levels) - 2)
            if result.stopped:
                break
        graph.levels.append(graph.count)
    result.distinct = graph.count
    result.packed = graph.count * graph.layout.words * 8
    rows = np.linspace(0, graph.count - 1, min(keep, graph.count)).astype(int)
    result.kept = [graph.layout.unpack(graph.states[row]) for row in rows]
    result.depth = len(graph.levels) - 2
    result.answers = finder.answers(complete=result.complete)
    result.memory = max(result.memory, finder.most)
    if not result.reduced:
        result.never_taken = graph.steps_without(finder.taken)
    result.seconds = time.perf_counter() - began


def _reduction(
    system: System, questions: Sequence[SearchQuery]
) -> tuple[Reduction | None, str]:
    """Return what a reduced search needs, or why the search cannot be reduced."""
    reason = why_not(questions)
    if reason:
        return None, reason
    found = Reduction(system, questions)
    return (None, found.too_large) if found.too_large else (found, "")


def _sought(when: Modality) -> bool | None:
    """Say whether a single state with the claim true, or false, settles the claim.

    None is for claims that no single state settles.
    """
    match when:
        case Modality.SOMETIMES:
            return True
        case Modality.ALWAYS | Modality.AT_REST:
            return False
        case (
            Modality.STEP
            | Modality.RECOVERABLE
            | Modality.EVENTUALLY
            | Modality.LEADS_TO
        ):
            return None
        case _:
            assert_never(when)


class _Finder:
    """Watches the flags of states as they are expanded, and settles questions."""

    def __init__(
        self, graph: VisitedStates, questions: Sequence[SearchQuery], limits: Limits
    ) -> None:
        self._graph = graph
        self._limits = limits
        self.most = 0
        self._questions = list(questions)
        # Each with what a state is looked for in which: the claim true, or false.
        self._state_claims = [
            (q, wanted) for q in questions if (wanted := _sought(q.when)) is not None
        ]
        # The first rows that settle a claim, all as many steps from the start.
        self._first: dict[str, list[int]] = {}
        self._level: dict[str, int] = {}
        self._through: dict[str, Trace] = {}
        self._rested = False
        self._flags: list[Flags] = []
        self._orbits: OrbitJudge | None = None
        self._whole = any(q.whole for q in questions)
        self.taken = np.zeros(len(graph.events), bool)

    def look(self, lo: int, flags: Flags) -> None:
        """Take in the flags of the rows from ``lo`` on."""
        summary = flags.summary()
        self._rested = self._rested or summary.rests_somewhere
        for question, wanted in self._state_claims:
            alike = self._first.get(question.name, [])
            if alike and (lo >= self._level[question.name] or len(alike) >= _ALIKE):
                continue
            claim = question.term
            if wanted:
                settled = not summary.holds_somewhere(claim)
            else:
                settled = summary.holds_everywhere(claim)
            if settled:
                continue
            found = flags.holds(claim) if wanted else ~flags.holds(claim)
            if question.when.of_rest:
                found = found & flags.rests
            if found.any():
                self._level.setdefault(question.name, self._graph.levels[-1])
                rows = (lo + np.flatnonzero(found)).tolist()
                self._first[question.name] = [*alike, *rows][:_ALIKE]
        if self._whole:
            self._flags.append(flags.copy())

    def note(self, events: Words) -> None:
        """Note which events were taken."""
        missing = np.flatnonzero(~self.taken)
        if len(missing) > _FEW:
            self.taken[events] = True
            return
        for number in missing:
            self.taken[number] = (events == number).any()

    @property
    def memory(self) -> int:
        """Bytes of the flags that are kept of every state."""
        return sum(one.rows.nbytes for one in self._flags)

    @property
    def settled(self) -> frozenset[str]:
        """The names of the questions that a state has settled."""
        return frozenset(self._first)

    def answers(self, *, complete: bool) -> list[SearchResult]:
        """Settle every question."""
        asked = {q.name for q in self._questions}
        numbered = enumerate(self._graph.step_claims)
        every = [(n, q) for n, q in numbered if self._graph.broken[n, 0] >= 0]
        broken = [(n, q) for n, q in every if q.name in asked]
        rows = self._graph.broken.copy()
        for number, question in broken:
            self._graph.broken[:] = rows
            self._through[question.name] = self._graph.trace_breaking(number)
        return [self._answer(q, complete=complete) for q in self._questions]

    def _earliest(self, rows: Sequence[int]) -> Trace:
        """Return a shortest trace; of several, one whose faults happen first."""
        graph = self._graph
        if graph.count > _MOST_COMPARED:
            return graph.trace_to(rows[0])
        # Only the trace that is chosen has its states unpacked.
        return graph.trace_to(min(rows, key=self._faults_on_the_way))

    def _faults_on_the_way(self, row: int) -> list[int]:
        events, path = self._graph.events, self._graph.path_to(row)
        return [at for at, (event, _) in enumerate(path[1:]) if events[event].fault]

    def _answer(self, question: SearchQuery, *, complete: bool) -> SearchResult:
        if question.name in self._through:
            return SearchResult(question, "refuted", self._through[question.name])
        if question.name in self._first:
            trace = self._earliest(self._first[question.name])
            witness = question.when is Modality.SOMETIMES
            return SearchResult(question, "exhausted" if witness else "refuted", trace)
        if not complete:
            return SearchResult(question, "undecided")
        match question.when:
            case Modality.ALWAYS:
                return SearchResult(question, "exhausted")
            case Modality.STEP:
                moved = bool(self.taken.any())
                return SearchResult(question, "exhausted" if moved else "vacuous")
            case Modality.AT_REST:
                rested = self._rested
                return SearchResult(question, "exhausted" if rested else "vacuous")
            case Modality.SOMETIMES:
                return SearchResult(question, "vacuous")
            case Modality.RECOVERABLE | Modality.EVENTUALLY | Modality.LEADS_TO:
                return self._of_all_states(question)
            case _:
                assert_never(question.when)

    def _hold(self, more: int) -> None:
        """Note that so many bytes are held beside the states found, and their flags.

        Raises ``TooLargeError`` where that is beyond the limit.
        """
        held = self._graph.memory_for(0) + self.memory + more
        beyond = self._limits.exceeded(0, held)
        if beyond:
            message = f"judging it on the states that were found takes {beyond}"
            raise TooLargeError(message)
        self.most = max(self.most, held)

    def _of_all_states(self, question: SearchQuery) -> SearchResult:
        """Settle a claim that needs all states; it is undecided without the memory."""
        try:
            if question.when is Modality.RECOVERABLE:
                return self._recoverable(question)
            return self._of_runs(question)
        except TooLargeError as problem:
            return SearchResult(question, "undecided", note=str(problem))

    def _of_runs(self, question: SearchQuery) -> SearchResult:
        """Look for a fair run that breaks a claim about runs."""
        graph = self._graph
        if graph.symmetry is not None:
            # Few searches need it, and all would pay for its import.
            from onceproof.model.search.fairness.orbits import OrbitJudge  # noqa: PLC0415

            self._orbits = self._orbits or OrbitJudge(graph, self._hold)
            return self._orbits.settle(question)
        if question.given is not None and not self._ever(question.given):
            return SearchResult(question, "vacuous")
        flags = self._joined_flags()
        lasso = refuting_lasso(graph, question, flags, self._hold_with_flags)
        return SearchResult(question, "refuted" if lasso else "exhausted", lasso)

    def _joined_flags(self) -> Flags:
        self._hold_with_flags(0)
        return self._graph.flags.joined(self._flags)

    def _hold_with_flags(self, more: int) -> None:
        """Note so many bytes beside the flags, which are held twice."""
        self._hold(self.memory + more)

    def _ever(self, term: Term) -> bool:
        """Return whether a claim about single states holds in any seen state."""
        return any(bool(flags.holds(term).any()) for flags in self._flags)

    def _recoverable(self, question: SearchQuery) -> SearchResult:
        """Find a state from which rest with the claim true is out of reach.

        Works backwards to a fixed point: a state can recover if it is the goal, or
        an action (no fault) leads to one that can.
        """
        graph = self._graph
        flags = self._joined_flags()
        self._hold_with_flags(graph.slot_count + graph.count * _PER_GOAL)
        can = flags.rests & flags.holds(question.term)
        marked = np.zeros(graph.slot_count, bool)
        marked[graph.slots(graph.states[: graph.count][can])] = True
        calm = np.array([not e.fault for e in graph.events] or [True])
        moved = True
        while moved:
            moved = False
            for made in graph.sweep(0, graph.count, backwards=True):
                if can[made.lo : made.hi].all():
                    continue
                good = calm[made.events] & marked[graph.slots(made.states)]
                rows = np.unique(made.sources[good])
                rows = rows[~can[rows]]
                if len(rows):
                    moved = True
                    can[rows] = True
                    marked[graph.slots(graph.states[rows])] = True
        if can.all():
            return SearchResult(question, "exhausted")
        return SearchResult(question, "refuted", graph.trace_to(int(np.argmin(can))))
