"""The states that were found, each once, in the order in which they came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.states import hash_table, row_table
from onceproof.model.search.states.growing_words import GrowingWords

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    Words = NDArray[np.int64]

_FIRST_SLOTS = 1 << 12
_FIRST_ROWS = 1 << 10
_AHEAD = 1 << 19
"""For how many words memory is asked for ahead."""
_NO_STATE = -1
"""A word that no packed state has: they are never negative."""


class PackedStates:
    """Distinct states as rows of words, with a hash table over them.

    A table holds states of one word themselves, and the row numbers of wider ones.
    """

    def __init__(self, width: int) -> None:
        """Hold no state yet; a state takes ``width`` words."""
        self.beside: Executor | None = None
        """Asks for memory ahead while another thread adds states, if there is one."""
        self._one = width == 1
        self._width = width
        self.count = 0
        self._states = GrowingWords(_FIRST_ROWS * width)
        self._slots = GrowingWords(_FIRST_SLOTS)
        if not self._one:
            self._table.fill(row_table.EMPTY)
        self._late = np.zeros(hash_table.WAITING if self._one else 0, np.int64)
        bits = hash_table.RECENT_BITS if self._one else row_table.RECENT_BITS
        self.recent = np.full((1 << bits, width), _NO_STATE, np.int64)

    @property
    def rows(self) -> Words:
        """Room for states, a row for each; they are in the first ``count`` rows."""
        return self._states.words.reshape(-1, self._width)

    @property
    def _table(self) -> Words:
        return self._slots.words

    @property
    def memory(self) -> int:
        """Bytes held for states and tables."""
        others = self.recent.nbytes + self._late.nbytes
        words = self._states.words.nbytes + self._slots.words.nbytes + others
        return int(words) + self._ahead

    @property
    def _ahead(self) -> int:
        """Bytes that may have been asked for ahead of states, at most."""
        return _AHEAD * 8 if self._one and self._states.in_place else 0

    @property
    def slot_count(self) -> int:
        """One more than the largest number that ``slots`` can answer."""
        return len(self._table)

    def sift(self, rows: Words) -> Words:
        """Leave out rows that were sifted lately; the others take their places.

        What is left has to be added, since it is taken for known from now on. Rows may
        be sifted while others are added.
        """
        sift = hash_table.sift_one if self._one else row_table.sift_rows
        return rows[: sift(rows, len(rows), self.recent)]

    def add(self, rows: Words) -> None:
        """Add those of ``rows`` that are new."""
        self._make_room(len(rows))
        insert = hash_table.insert_one if self._one else row_table.insert_rows
        shift = self._shift
        self.count = insert(self._table, shift, rows, len(rows), self.rows, self.count)

    def touch_ahead(self) -> None:
        """Have memory for the next states be handed out: work for another thread."""
        self._states.touch_ahead(self.count * self._width, _AHEAD)

    def slots(self, rows: Words) -> Words:
        """Return a number for each row, the same for the same state."""
        slots = np.empty(len(rows), np.int64)
        shift = self._shift
        if self._one:
            hash_table.find_one(self._table, shift, rows, len(rows), slots)
        else:
            these = (self._table, shift, self.rows)
            row_table.find_rows(*these, rows, len(rows), slots)
        return slots

    def prepare(self) -> None:
        """Compile what a search needs, so that its time is not that of compilation."""
        self._spread(len(self._table))
        self.add(self.sift(self.rows[:0]))

    def memory_for(self, coming: int) -> int:
        """Return how many bytes are held, at most, while so many rows are added.

        An array that cannot grow in place is held twice for a moment.
        """
        room, slots = self._room_for(coming)
        others = self.memory - self._states.words.nbytes
        while_rows = others + self._states.bytes_for(room * self._width)
        others += room * self._width * 8 - self._slots.words.nbytes
        return max(while_rows, others + self._slots.bytes_for(slots))

    def _room_for(self, coming: int) -> tuple[int, int]:
        """Return how many rows and slots there have to be before rows are added."""
        room, slots = len(self.rows), len(self._table)
        if self.count + coming > room:
            ahead = 0 if self._states.in_place else 2 * room
            room = max(ahead, self.count + coming)
        while (self.count + coming) * 4 > slots * 3:
            slots *= 2
        return room, slots

    def _make_room(self, coming: int) -> None:
        room, slots = self._room_for(coming)
        self._states.grow(room * self._width)
        before = len(self._table)
        if slots > before:
            self._slots.grow(slots)
            if self._one and self.beside is not None:
                # States are spread from the end on.
                middle = (before + slots) // 2
                self.beside.submit(self._slots.touch, before, middle)
            self._spread(before)

    def _spread(self, before: int) -> None:
        """Give each state its slot in a table that has grown; it had so many slots."""
        table, shift = self._table, self._shift
        if not self._one:
            row_table.fill(table, shift, self.rows, self.count)
            return
        if not hash_table.spread_one(table, before, shift, self._late):
            hash_table.fill_one(table, shift, self.rows, self.count)

    @property
    def _shift(self) -> int:
        """By how much a hash is shifted to give a slot, or the bucket of one word."""
        places = len(self._table) // (hash_table.BUCKET if self._one else 1)
        return 64 - (places.bit_length() - 1)
