"""The states that were found, each once, in the order in which they came in."""

from __future__ import annotations

import contextlib
import mmap
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.states import hash_table, row_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.int64]

_FIRST_SLOTS = 1 << 12
_WORTH_IT = 1 << 22
_NO_STATE = -1
"""A word that no packed state has: they are never negative."""


class PackedStates:
    """Distinct states as rows of words, with a hash table over them.

    A table holds states of one word themselves, and the row numbers of wider ones.
    """

    def __init__(self, width: int) -> None:
        """Hold no state yet; a state takes ``width`` words."""
        self._one = width == 1
        self.count = 0
        self.rows: Words = np.empty((1024, width), np.int64)
        empty = hash_table.EMPTY if self._one else row_table.EMPTY
        self._table: Words = np.full(_FIRST_SLOTS, empty, np.int64)
        bits = hash_table.RECENT_BITS if self._one else row_table.RECENT_BITS
        self._recent = np.full((1 << bits, width), _NO_STATE, np.int64)

    @property
    def memory(self) -> int:
        """Bytes held for states and tables."""
        return int(self.rows.nbytes + self._table.nbytes + self._recent.nbytes)

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
        return rows[: sift(rows, len(rows), self._recent)]

    def add(self, rows: Words) -> None:
        """Add those of ``rows`` that are new."""
        self._make_room(len(rows))
        insert = hash_table.insert_one if self._one else row_table.insert_rows
        shift = _shift(len(self._table))
        self.count = insert(self._table, shift, rows, len(rows), self.rows, self.count)

    def slots(self, rows: Words) -> Words:
        """Return a number for each row, the same for the same state."""
        slots = np.empty(len(rows), np.int64)
        shift = _shift(len(self._table))
        if self._one:
            hash_table.find_one(self._table, shift, rows, len(rows), slots)
        else:
            these = (self._table, shift, self.rows)
            row_table.find_rows(*these, rows, len(rows), slots)
        return slots

    def prepare(self) -> None:
        """Compile what a search needs, so that its time is not that of compilation."""
        self._fill(np.zeros_like(self._table))
        self.add(self.sift(self.rows[:0]))

    def memory_for(self, coming: int) -> int:
        """Return how many bytes are held, at most, while so many rows are added.

        An array that grows is held twice for a moment.
        """
        room, slots = self._room_for(coming)
        grown = room * self.rows.shape[1] * 8 if room > len(self.rows) else 0
        larger = slots * 8 if slots > len(self._table) else 0
        held = self.memory - self.rows.nbytes if grown else self.memory
        return max(self.memory + grown, held + grown + larger)

    def _room_for(self, coming: int) -> tuple[int, int]:
        """Return how many rows and slots there have to be before rows are added."""
        room, slots = len(self.rows), len(self._table)
        if self.count + coming > room:
            room = max(2 * room, self.count + coming)
        while (self.count + coming) * 4 > slots * 3:
            slots *= 2
        return room, slots

    def _make_room(self, coming: int) -> None:
        room, slots = self._room_for(coming)
        if room > len(self.rows):
            grown = _words(room, self.rows.shape[1])
            grown[: self.count] = self.rows[: self.count]
            self.rows = grown
        if slots > len(self._table):
            larger = _words(slots, 1).reshape(-1)
            self._fill(larger)
            self._table = larger

    def _fill(self, larger: Words) -> None:
        shift = _shift(len(larger))
        if self._one:
            hash_table.grow_one(self._table, larger, shift)
        else:
            row_table.fill(larger, shift, self.rows, self.count)


def _shift(slots: int) -> int:
    return 64 - (slots.bit_length() - 1)


def _words(rows: int, width: int) -> Words:
    """Return an array of ``rows`` by ``width`` 64-bit words, all of them zero.

    A large one is allocated in huge pages: most of the time that a growing table
    takes is the system's, page by page.
    """
    size = rows * width * 8
    if size < _WORTH_IT or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros((rows, width), np.int64)
    block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a kernel without them
        block.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(block, np.int64).reshape(rows, width)
