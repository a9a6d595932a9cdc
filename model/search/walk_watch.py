"""Watches walks: which claims break on the way, and the walk up to there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

import numpy as np

from onceproof.model.language.declarations.modality import Modality
from onceproof.model.search.queries import SearchResult
from onceproof.model.traces import Trace, follow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from onceproof.model.search.queries import SearchQuery
    from onceproof.model.search.states.claim_flags import Flags
    from onceproof.model.search.visited_states import VisitedStates

    Words = NDArray[np.int64]
    PathOf = Callable[[int], "Path"]


@dataclass(frozen=True)
class Path:
    """Where a walk began, and its events so far."""

    start: tuple[int, ...]
    """The packed state that it began in."""
    events: tuple[int, ...]
    """The numbers of its events."""

    def trace(self, graph: VisitedStates) -> Trace:
        """Follow it in plain Python."""
        start = graph.layout.unpack(self.start)
        events = tuple(graph.events[number] for number in self.events)
        return follow(graph.interpreter, start, events)


class WalkWatch:
    """Asks questions of the states and steps that walks meet."""

    def __init__(self, graph: VisitedStates, questions: Sequence[SearchQuery]) -> None:
        """Nothing was met yet."""
        self._graph = graph
        self._questions = list(questions)
        self._of_steps = [q for q in questions if q.when is Modality.STEP]
        self.shown: dict[str, Path] = {}
        self.rested = False

    def look(self, flags: Flags, path_of: PathOf) -> None:
        """Ask of states; ``path_of(row)`` gives the path to one of them."""
        self.rested = self.rested or bool(flags.rests.any())
        for question in self._questions:
            if question.name in self.shown:
                continue
            match question.when:
                case Modality.ALWAYS:
                    found = ~flags.holds(question.term)
                case Modality.SOMETIMES:
                    found = flags.holds(question.term)
                case Modality.AT_REST:
                    found = ~flags.holds(question.term) & flags.rests
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
                self.shown[question.name] = path_of(int(np.argmax(found)))

    def look_at_steps(self, events: Words, path_of: PathOf) -> None:
        """Ask of each step from the states that were expanded last."""
        for number, question in enumerate(self._of_steps):
            row, successor = self._graph.broken[number].tolist()
            if row >= 0 and question.name not in self.shown:
                path, last = path_of(row), int(events[successor])
                self.shown[question.name] = Path(path.start, (*path.events, last))


def answers(
    graph: VisitedStates,
    questions: Sequence[SearchQuery],
    shown: Mapping[str, Path],
    *,
    moved: bool,
    rested: bool,
) -> list[SearchResult]:
    """Settle every question, as far as walks can.

    ``moved`` says whether any walk took a step, ``rested`` whether any came to rest.
    """

    def answer(question: SearchQuery) -> SearchResult:
        path = shown.get(question.name)
        trace = None if path is None else path.trace(graph)
        if question.when is Modality.SOMETIMES:
            return SearchResult(question, "held" if trace else "undecided", trace)
        if trace is not None:
            return SearchResult(question, "refuted", trace)
        silent = (
            not moved  # walks that went nowhere have shown nothing
            or question.whole
            or (question.when is Modality.AT_REST and not rested)
        )
        return SearchResult(question, "undecided" if silent else "held")

    return [answer(question) for question in questions]
