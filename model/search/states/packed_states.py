"""The states that were found, each once, in the order in which they came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.states import compact_table, hash_table, row_table
from onceproof.model.search.states.growing_words import GrowingWords
from onceproof.model.search.states.layout import WORD_BITS

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    Words = NDArray[np.int64]

_FIRST_SLOTS = 1 << 12
_FIRST_ROWS = 1 << 10
_AHEAD = 1 << 18
"""For how many words memory is asked for ahead."""
_NO_STATE = -1
"""A word that no packed state has: they are never negative."""


class PackedStates:
    """Distinct states as rows of words, with a hash table over them.

    A table holds states of one word themselves, in half a word as soon as that is
    enough, and the row numbers of wider ones.
    """

    def __init__(self, width: int, bits: int = WORD_BITS) -> None:
        """Hold no state yet; a state takes ``width`` words.

        Of one word it uses the lowest ``bits`` bits.
        """
        self.beside: Executor | None = None
        """Asks for memory ahead while another thread adds states, if there is one."""
        self._one = width == 1
        self._width = width
        self._bits = bits
        self.count = 0
        self._states = GrowingWords(_FIRST_ROWS * width)
        self._slots = GrowingWords(_FIRST_SLOTS)
        if not self._one:
            self._table.fill(row_table.EMPTY)
        self._late = np.zeros(hash_table.WAITING if self._one else 0, np.int64)
        self._spill = np.zeros(self._spill_for(_FIRST_SLOTS), np.int64)
        self._progress = np.zeros(2, np.int64)
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
        others = self.recent.nbytes + self._late.nbytes + self._spill.nbytes
        words = self._states.words.nbytes + self._slots.words.nbytes + others
        return int(words) + self._ahead

    @property
    def _ahead(self) -> int:
        """Bytes that may have been asked for ahead of states, at most."""
        return _AHEAD * 8 if self._one and self._states.in_place else 0

    @property
    def slot_count(self) -> int:
        """One more than the largest number that ``slots`` can answer."""
        return self._places_in(len(self._table)) + len(self._spill)

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
        if self._compact(len(self._table)):
            self._add_compact(rows)
            return
        insert = hash_table.insert_one if self._one else row_table.insert_rows
        shift = self._shift
        self.count = insert(self._table, shift, rows, len(rows), self.rows, self.count)

    def _add_compact(self, rows: Words) -> None:
        progress, number = self._progress, len(rows)
        progress[compact_table.REACHED] = 0
        while True:
            self.count = compact_table.insert_compact(
                self._table,
                self._bits,
                self._left(len(self._table)),
                rows,
                number,
                self.rows,
                self.count,
                self._spill,
                progress,
            )
            if progress[compact_table.REACHED] == number:
                return
            self._grow_table(2 * len(self._table))

    def touch_ahead(self) -> None:
        """Have memory for the next states be handed out: work for another thread."""
        self._states.touch_ahead(self.count * self._width, _AHEAD)

    def slots(self, rows: Words) -> Words:
        """Return a number for each row, the same for the same state."""
        slots = np.empty(len(rows), np.int64)
        shift = self._shift
        if self._compact(len(self._table)):
            these = (self._table, self._bits, self._left(len(self._table)))
            compact_table.find_compact(*these, rows, len(rows), self._spill, slots)
        elif self._one:
            hash_table.find_one(self._table, shift, rows, len(rows), slots)
        else:
            row_table.find_rows(self._table, shift, self.rows, rows, len(rows), slots)
        return slots

    def prepare(self) -> None:
        """Compile what a search needs, so that its time is not that of compilation."""
        slots = len(self._table)
        if self._compact(slots):
            self._fill()
            compact_table.spread_compact(self._table, slots // 2, self._left(slots))
        else:
            self._spread(slots)
        self.add(self.sift(self.rows[:0]))

    def memory_for(self, coming: int) -> int:
        """Return how many bytes are held, at most, while so many rows are added.

        An array that cannot grow in place is held twice for a moment.
        """
        room, slots = self._room_for(coming)
        others = self.memory - self._states.words.nbytes
        while_rows = others + self._states.bytes_for(room * self._width)
        others += room * self._width * 8 - self._slots.words.nbytes
        others += self._spill_for(slots) * 8
        return max(while_rows, others + self._slots.bytes_for(slots))

    # The table ----------------------------------------------------------------------

    def _left(self, slots: int) -> int:
        """Return how many bits of a state its entry has in a compact table."""
        buckets = slots // compact_table.BUCKET_WORDS
        return self._bits - (buckets.bit_length() - 1)

    def _compact(self, slots: int) -> bool:
        """Return whether half a word is enough for a state in a table of that size."""
        return self._one and 0 <= self._left(slots) <= compact_table.ENTRY_BITS

    def _places_in(self, slots: int) -> int:
        """Return how many states a table of so many words has places for."""
        return 2 * slots if self._compact(slots) else slots

    def _most_in(self, slots: int) -> int:
        """Return how many states a table of so many words may hold.

        With eleven of the sixteen places of a bucket in use, every 85th state finds its
        bucket full, and there are half as many places again for these.
        """
        return slots * 11 // 8 if self._compact(slots) else slots * 3 // 4

    def _spill_for(self, slots: int) -> int:
        """Return how many words there are for states without room in their bucket."""
        return slots // compact_table.PER_SPILL if self._compact(slots) else 0

    def _room_for(self, coming: int) -> tuple[int, int]:
        """Return how many rows and slots there have to be before rows are added."""
        room, slots = len(self.rows), len(self._table)
        if self.count + coming > room:
            ahead = 0 if self._states.in_place else 2 * room
            room = max(ahead, self.count + coming)
        while self.count + coming > self._most_in(slots):
            if self._compact(slots) and self._left(slots) == 0:
                break  # each state that there can be has a bucket of its own
            slots *= 2
        return room, slots

    def _make_room(self, coming: int) -> None:
        room, slots = self._room_for(coming)
        self._states.grow(room * self._width)
        if slots > len(self._table):
            self._grow_table(slots)

    def _grow_table(self, slots: int) -> None:
        before = len(self._table)
        self._slots.grow(slots)
        if self._one and self.beside is not None:
            # States are spread from the end on.
            middle = (before + slots) // 2
            self.beside.submit(self._slots.touch, before, middle)
        if self._compact(slots):
            self._spread_compact(before)
        else:
            self._spread(before)

    def _spread(self, before: int) -> None:
        """Give each state its slot in a table that has grown; it had so many slots."""
        table, shift = self._table, self._shift
        if not self._one:
            row_table.fill(table, shift, self.rows, self.count)
            return
        if not hash_table.spread_one(table, before, shift, self._late):
            hash_table.fill_one(table, shift, self.rows, self.count)

    def _spread_compact(self, before: int) -> None:
        """Give each state its place in a table that has grown, and is compact now."""
        if not self._compact(before):
            self._fill()
            return
        spilled = ~self._spill[self._spill != compact_table.EMPTY].reshape(-1, 1)
        while before < len(self._table):
            before *= 2
            these = self._table[:before]
            compact_table.spread_compact(these, before // 2, self._left(before))
        self._put(spilled)

    def _fill(self) -> None:
        """Put all states into a compact table, anew."""
        self._table.fill(compact_table.EMPTY)
        self._put(self.rows[: self.count])

    def _put(self, states: Words) -> None:
        """Put states into a compact table that has none of them."""
        slots = len(self._table)
        self._spill = np.zeros(self._spill_for(slots), np.int64)
        self._progress[compact_table.SPILLED] = 0
        these = (self._table, self._bits, self._left(slots), states, len(states))
        if not compact_table.fill_compact(*these, self._spill, self._progress):
            self._slots.grow(2 * slots)
            self._fill()

    @property
    def _shift(self) -> int:
        """By how much a hash is shifted to give a slot, or the bucket of one word."""
        places = len(self._table) // (hash_table.BUCKET if self._one else 1)
        return 64 - (places.bit_length() - 1)
