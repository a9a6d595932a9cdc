"""The steps between the states that a search has found, in arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Rows = NDArray[np.int32]
    Words = NDArray[np.int64]

PER_STATE = 64
PER_STEP = 64
"""How many bytes a state and a step take at most while a claim about runs is judged."""

_UNSEEN, _BEGINNING = -2, -1
_MOST_ROWS = np.iinfo(np.int32).max


class StepGraph:
    """Steps between the rows of a search, in the order of the rows that they leave."""

    def __init__(self, sources: Rows, events: Rows, targets: Rows, rows: int) -> None:
        """Take steps in any order, as arrays of the same length, and how many rows."""
        if len(sources) and (np.diff(sources) < 0).any():
            order = np.argsort(sources, kind="stable")
            sources, events, targets = sources[order], events[order], targets[order]
        self.sources = sources
        """The row that each step leaves."""
        self.events = events
        """The number of its event."""
        self.targets = targets
        """The row that it leads to."""
        self.rows = rows
        """How many rows there are."""
        self._first = np.zeros(rows + 1, np.int64)
        np.cumsum(np.bincount(sources, minlength=rows), out=self._first[1:])

    @classmethod
    def joined(cls, parts: Sequence[tuple[Rows, Rows, Rows]], rows: int) -> StepGraph:
        """Put pieces together: sources, events and targets of each."""
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return cls(columns[0], columns[1], columns[2], rows)

    def within(self, rows: NDArray[np.bool_]) -> StepGraph:
        """Return the steps that lead from some rows to some of the same."""
        inside = rows[self.sources] & rows[self.targets]
        parts = self.sources[inside], self.events[inside], self.targets[inside]
        return StepGraph(*parts, self.rows)

    def leaving(self, row: int) -> list[tuple[int, int]]:
        """List the steps from a row: event and target."""
        these = slice(self._first[row], self._first[row + 1])
        return list(
            zip(self.events[these].tolist(), self.targets[these].tolist(), strict=True)
        )

    def has(self, row: int, event: int) -> bool:
        """Say whether an event is a step from a row."""
        these = slice(self._first[row], self._first[row + 1])
        return bool((self.events[these] == event).any())

    def pieces(self) -> Rows:
        """Return the strongly connected piece of each row."""
        # Its import takes a third of the start of a command.
        from scipy.sparse import coo_array  # noqa: PLC0415
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

        # SciPy 1.17.1 finds wrong pieces where a csr_array mixes widths of indices.
        ones = np.ones(len(self.targets), np.int8)
        places = (self.sources, self.targets)
        links = coo_array((ones, places), shape=(self.rows, self.rows))
        _, found = connected_components(links, connection="strong")
        return np.asarray(found, np.int32)

    def shortest(
        self,
        begins: Iterable[int],
        ends: Callable[[int], bool],
        allowed: Callable[[int], bool] | None = None,
    ) -> tuple[int, list[tuple[int, int]]] | None:
        """Return a shortest path from a beginning; of two, from the first found.

        It is the row where it begins, and an event and a row for each step. With
        ``allowed`` it enters no other rows.
        """
        came = np.full(self.rows, _UNSEEN, np.int32)
        by = np.empty(self.rows, np.int32)
        queue = np.empty(self.rows, np.int32)
        filled = 0
        for row in begins:
            if came[row] == _UNSEEN:
                came[row] = _BEGINNING
                queue[filled] = row
                filled += 1
        at = 0
        while at < filled:
            row = int(queue[at])
            at += 1
            if ends(row):
                return self._back(row, came, by)
            for event, to in self.leaving(row):
                if came[to] == _UNSEEN and (allowed is None or allowed(to)):
                    came[to], by[to] = row, event
                    queue[filled] = to
                    filled += 1
        return None

    @staticmethod
    def _back(row: int, came: Rows, by: Rows) -> tuple[int, list[tuple[int, int]]]:
        way: list[tuple[int, int]] = []
        while came[row] != _BEGINNING:
            way.append((int(by[row]), row))
            row = int(came[row])
        return row, way[::-1]


def narrow(sources: Words, events: Words, targets: Words) -> tuple[Rows, Rows, Rows]:
    """Return three columns of steps in half the room.

    Raises ``TooLargeError`` where there are too many rows for that.
    """
    if len(sources) and max(int(sources.max()), int(targets.max())) >= _MOST_ROWS:
        message = f"claims about runs are judged on up to {_MOST_ROWS:,} states"
        raise TooLargeError(message)
    return sources.astype(np.int32), events.astype(np.int32), targets.astype(np.int32)


def starved_pieces(
    piece: Rows, able: StepGraph, inside: StepGraph, fair: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the pieces in which a fair event starves.

    It starves where each state of a piece has it as a step, in ``able``, and none of
    the steps of ``inside`` that stay in the piece is the event.
    """
    kinds = len(fair)
    sizes = np.bincount(piece)
    of_fair = fair[able.events]
    keys = piece[able.sources[of_fair]].astype(np.int64) * kinds
    keys += able.events[of_fair]
    always, times = np.unique(keys, return_counts=True)
    always = always[times == sizes[always // kinds]]
    stays = (piece[inside.sources] == piece[inside.targets]) & fair[inside.events]
    taken = piece[inside.sources[stays]].astype(np.int64) * kinds
    taken += inside.events[stays]
    found: NDArray[np.int64] = np.unique(np.setdiff1d(always, taken) // kinds)
    return found
