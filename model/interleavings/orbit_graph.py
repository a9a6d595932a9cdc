"""The whole state graph of a system, with a row for all states that differ in names.

A row is the least packed state of its orbit. A step leaves it as it is, and leads to
some state of an orbit, which a renaming takes to the orbit's row: so nothing is lost of
who did what. With the plain renaming alone, rows are the states themselves.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.errors import TooLargeError, UsageError
from onceproof.model.search.renamings import renaming_tables
from onceproof.model.search.states import canonical_rows
from onceproof.model.search.visited_states import VisitedStates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from onceproof.model.interleavings.renaming_group import RenamingGroup
    from onceproof.model.language.interpreter import State
    from onceproof.model.language.tracing.system import System

    Numbers = NDArray[np.int32]
    Words = NDArray[np.int64]


class OrbitGraph:
    """Rows, and the steps that leave each: arrays in the order of rows, then events."""

    def __init__(self, system: System, group: RenamingGroup, most: int) -> None:
        """Search the whole graph.

        Raises ``TooLargeError`` where it has more than ``most`` rows.
        """
        self.group = group
        self.found = VisitedStates(system)
        """The rows, packed. Its levels, and the paths to a row, are not of use."""
        self._tables: tuple[Words, ...] = ()
        if len(group) > 1:
            sorts = list(group.names[0])
            self._tables = renaming_tables(self.found.layout, sorts, system.sizes)
        self._search(system.name, most)
        self._step()

    def _search(self, name: str, most: int) -> None:
        found = self.found
        layout, first = found.layout, found.interpreter.initial_states()
        starts = np.array(list({tuple(layout.pack(s)) for s in first}), np.int64)
        self._least(starts)
        found.add(starts)
        done = 0
        while done < found.count:
            if found.count > most:
                message = f"{name} has more than {most:,} states at these sizes"
                raise TooLargeError(message)
            end = min(found.count, done + found.most_rows)
            made = found.expand(done, end)
            self._least(made.states)
            found.add(made.states)
            done = end
        row_of = found.row_numbers()
        rows, times = np.unique(row_of[found.slots(starts)], return_counts=True)
        self.starts = dict(zip(rows.tolist(), times.tolist(), strict=True))
        """The rows that runs begin in, and how many states each stands for."""

    def _step(self) -> None:
        found, row_of = self.found, self.found.row_numbers()
        columns: list[list[NDArray[np.int32]]] = []
        for lo in range(0, found.count, found.most_rows):
            made = found.expand(lo, min(found.count, lo + found.most_rows))
            chosen = self._least(made.states)
            leads_to = row_of[found.slots(made.states)]
            parts = made.sources, made.events, leads_to, chosen
            columns.append([part.astype(np.int32) for part in parts])
        joined = [np.concatenate(column) for column in zip(*columns, strict=True)]
        sources, events, targets, naming = joined
        order = np.lexsort((events, sources))
        self.sources: Numbers = sources[order]
        """The row that each step leaves."""
        self.events: Numbers = events[order]
        """The number of its event."""
        self.targets: Numbers = targets[order]
        """The row of the orbit that it leads to."""
        self.naming: Numbers = naming[order]
        """The first renaming that takes the state it leads to, to that row."""
        self.first: Numbers = np.zeros(found.count + 1, np.int32)
        """The first step of each row, and how many steps there are."""
        np.cumsum(np.bincount(sources, minlength=found.count), out=self.first[1:])

    def _least(self, rows: Words) -> Words:
        """Replace each by the row of its orbit; return which renaming does so."""
        chosen = np.zeros(len(rows), np.int64)
        if self._tables:
            canonical_rows.least_renaming(rows, len(rows), *(*self._tables, chosen))
        return chosen

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.found.count

    def state(self, row: int) -> State:
        """Return the state that is the row."""
        return self.found.layout.unpack(self.found.states[row].tolist())

    def leaving(self, row: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield the steps from a row: number, event, target and naming."""
        lo, hi = int(self.first[row]), int(self.first[row + 1])
        part = slice(lo, hi)
        return zip(
            range(lo, hi),
            self.events[part].tolist(),
            self.targets[part].tolist(),
            self.naming[part].tolist(),
            strict=True,
        )

    @cached_property
    def step_of(self) -> Numbers:
        """The step from each row by each event; -1 where it would change nothing."""
        found = np.full((self.count, len(self.found.events)), -1, np.int32)
        found[self.sources, self.events] = np.arange(len(self.events), dtype=np.int32)
        return found

    def in_topological_order(self) -> list[int]:
        """List the rows, each after all from which a step leads to it.

        Raises ``UsageError`` where there is no such order.
        """
        waiting = np.bincount(self.targets, minlength=self.count)
        ready: list[int] = np.flatnonzero(waiting == 0).tolist()
        left = waiting.tolist()
        for row in ready:
            for to in self.targets[self.first[row] : self.first[row + 1]].tolist():
                left[to] -= 1
                if left[to] == 0:
                    ready.append(to)
        if len(ready) < self.count:
            name = self.found.system.name
            message = f"{name} can go round for ever, so its runs cannot be listed"
            raise UsageError(message)
        return ready

    # States that some renamings leave as they are -----------------------------------

    @cached_property
    def kind(self) -> Numbers:
        """Which of the sets of renamings in ``kinds`` leave each row as it is."""
        return self._kinds[0]

    @property
    def kinds(self) -> list[list[int]]:
        """Sets of renamings that leave some row as it is."""
        return self._kinds[1]

    @cached_property
    def _kinds(self) -> tuple[Numbers, list[list[int]]]:
        kind = np.zeros(self.count, np.int32)
        if not self._tables:
            return kind, [[0]]
        numbers: dict[bytes, int] = {}
        kinds: list[list[int]] = []
        for lo in range(0, self.count, _PIECE):
            rows = self.found.states[lo : min(self.count, lo + _PIECE)]
            stays = np.zeros((len(rows), len(self.group)), np.int64)
            canonical_rows.unmoved_by(rows, len(rows), *(*self._tables, stays))
            unlike, which = np.unique(stays, axis=0, return_inverse=True)
            known = np.zeros(len(unlike), np.int32)
            for i, one in enumerate(unlike):
                if one.tobytes() not in numbers:
                    numbers[one.tobytes()] = len(kinds)
                    kinds.append(np.flatnonzero(one).tolist())
                known[i] = numbers[one.tobytes()]
            kind[lo : lo + len(rows)] = known[which.reshape(-1)]
        return kind, kinds

    @cached_property
    def alike(self) -> Numbers:
        """For each kind of row and renaming the first that leads from the same state.

        Two renamings take one state to a row if one of them, and then one that leaves
        the row as it is, is the other.
        """
        product = self.group.product
        return np.array([product[kind].min(axis=0) for kind in self.kinds], np.int32)


_PIECE = 1 << 12
