"""Walks that are guided to durable states that nobody has met yet.

Each walk begins at the start, or where an earlier walk met a new durable state; those
that began few walks are chosen more often. Steps to durable states that seem new are
preferred. Each walk also has actions of its own that it prefers, so that some walks
are full of faults, some have late ones, and some let one process run far ahead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.walk_watch import Path

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from onceproof.model.search.durable_coverage import DurableCoverage
    from onceproof.model.search.visited_states import VisitedStates
    from onceproof.model.search.walk_watch import WalkWatch

    Words = NDArray[np.int64]

_TOGETHER = 128
_PATIENCE = 32
"""After how many steps without a new durable state every other walk ends; the rest go
on, or claims about where runs come to rest would hardly be asked."""
_NEW = 4.0
"""How much a new durable state weighs; chance and preferences have a spread of 1."""


@dataclass
class _Archive:
    """Where walks can begin: the start, and where new durable states were met."""

    rows: list[tuple[int, ...]] = field(default_factory=list)
    """The packed states."""
    paths: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    """The entry that each was reached from, or -1, and the events from there."""
    lengths: list[int] = field(default_factory=list)
    """How many steps each is from the start."""
    begun: list[int] = field(default_factory=list)
    """How many walks began there."""

    def add(self, row: Words, before: int, events: tuple[int, ...]) -> int:
        """Add an entry; return its number."""
        self.rows.append(tuple(row.tolist()))
        self.paths.append((before, events))
        length = self.lengths[before] + len(events) if before >= 0 else 0
        self.lengths.append(length)
        self.begun.append(0)
        return len(self.rows) - 1

    def path(self, entry: int) -> Path:
        """Return the path from the start to an entry."""
        legs: list[tuple[int, ...]] = []
        while self.paths[entry][0] >= 0:
            before, events = self.paths[entry]
            legs.append(events)
            entry = before
        joined = tuple(event for leg in reversed(legs) for event in leg)
        return Path(self.rows[entry], joined)

    def choose(self, number: int, depth: int, random: np.random.Generator) -> Words:
        """Choose entries to begin at, those below ``depth`` that began few walks."""
        weights = 1.0 / (1.0 + np.array(self.begun, float))
        weights[np.array(self.lengths) >= depth] = 0.0
        chosen = random.choice(len(weights), size=number, p=weights / weights.sum())
        for entry in chosen.tolist():
            self.begun[entry] += 1
        return np.asarray(chosen, np.int64)


class GuidedWalker:
    """Makes walks, and keeps where they met something new."""

    def __init__(
        self,
        graph: VisitedStates,
        watch: WalkWatch,
        coverage: DurableCoverage,
        random: np.random.Generator,
    ) -> None:
        """Nothing was walked yet; the graph holds the initial states."""
        self._graph = graph
        self._watch = watch
        self._coverage = coverage
        self._random = random
        self._archive = _Archive()
        names = [event.name for event in graph.events]
        numbers = {name: n for n, name in enumerate(dict.fromkeys(names))}
        self._actions = np.array([numbers[name] for name in names] or [0])
        self.steps = 0
        self.taken = np.zeros(len(graph.events), bool)
        starts = graph.states[: graph.count].copy()
        coverage.take(starts)
        for row in starts:
            self._archive.add(row, -1, ())

    def walk(
        self,
        walks: int,
        depth: int,
        progress: Callable[[int, int, int], None] | None = None,
    ) -> None:
        """Make so many walks; none goes further than ``depth`` steps from the start."""
        done = 0
        while done < walks:
            number = min(_TOGETHER, walks - done, self._graph.most_rows)
            self._walk_together(number, depth)
            done += number
            if progress:
                progress(self._graph.count, self.steps, depth)

    def _walk_together(self, number: int, depth: int) -> None:
        graph, archive = self._graph, self._archive
        entries = archive.choose(number, max(depth, 1), self._random)
        rows = np.array([archive.rows[e] for e in entries.tolist()], np.int64)
        left = depth - np.array([archive.lengths[e] for e in entries.tolist()])
        legs: list[list[int]] = [[] for _ in range(number)]
        liking = self._random.normal(size=(number, self._actions.max() + 1))
        alive = np.arange(number)

        def path_of(row: int) -> Path:
            walk = int(alive[row])
            begin = archive.path(int(entries[walk]))
            return Path(begin.start, (*begin.events, *legs[walk]))

        while len(alive):
            graph.broken[:] = -1
            made = graph.expand_rows(rows[alive])
            self._watch.look(made.flags, path_of)
            going = (left[alive] > 0)[made.sources]
            if not going.any():
                break
            self._watch.look_at_steps(made.events, path_of)
            score = self._random.gumbel(size=len(going))
            score += liking[alive[made.sources], self._actions[made.events]]
            score += _NEW * self._coverage.unseen(made.states)
            score[~going] = -np.inf
            order = np.lexsort((-score, made.sources))
            first = order[np.flatnonzero(np.diff(made.sources[order], prepend=-1))]
            first = first[going[first]]
            alive = alive[made.sources[first]]
            rows[alive] = made.states[first]
            left[alive] -= 1
            for walk, event in zip(
                alive.tolist(), made.events[first].tolist(), strict=True
            ):
                legs[walk].append(event)
            self.taken[made.events[first]] = True
            self.steps += len(alive)
            graph.add(rows[alive])
            for at in self._coverage.take(rows[alive], self.steps):
                walk = int(alive[at])
                leg = tuple(legs[walk])
                entries[walk] = archive.add(rows[walk], int(entries[walk]), leg)
                legs[walk] = []
            going_on = [w for w in alive.tolist() if w % 2 or len(legs[w]) < _PATIENCE]
            alive = np.array(going_on, int)
