"""The states that were found, each once, in the order in which they came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.states import bucket_table, recent_filter
from onceproof.model.search.states.growing_words import GrowingWords
from onceproof.model.search.states.layout import WORD_BITS
from onceproof.model.search.states.segments import (
    MOST_ROWS,
    Segments,
    bits_for,
    states_in,
    tag_bits,
    words_in,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    Words = NDArray[np.int64]

_FIRST_ROWS = 1 << 10
_AHEAD = 1 << 17
"""For how many words memory is asked for ahead."""
_LEAST_BITS = 16
"""States of fewer bits are mixed as if they had so many."""
_PER_SPILL = 50
"""How many words of the table there are, at most, to each word of the spill."""
_PUT_AT_ONCE = 1 << 16
_NO_STATE = -1
"""A word that no packed state has: they are never negative."""


class PackedStates:
    """Distinct states as rows of words, with a hash table over them.

    A table holds the states themselves as soon as half a word is enough for what their
    place in it does not say. Else it holds the numbers of their rows.
    """

    def __init__(self, width: int, bits: int = WORD_BITS) -> None:
        """Hold no state yet; a state takes ``width`` words.

        Of one word it uses the lowest ``bits`` bits.
        """
        self.beside: Executor | None = None
        """Asks for memory ahead while another thread adds states, if there is one."""
        self._one = width == 1
        self._width = width
        self._bits = max(bits, _LEAST_BITS)
        self.count = 0
        self._states = GrowingWords(_FIRST_ROWS * width)
        self._segments = Segments()
        self._progress = np.zeros(2, np.int64)
        self._spill = self._empty_spill()
        many = recent_filter.RECENT_ROWS_BITS
        recent = recent_filter.RECENT_BITS if self._one else many
        self.recent = np.full((1 << recent, width), _NO_STATE, np.int64)

    @property
    def rows(self) -> Words:
        """Room for states, a row for each; they are in the first ``count`` rows."""
        return self._states.words.reshape(-1, self._width)

    @property
    def memory(self) -> int:
        """Bytes held for states and tables."""
        segments = self._segments
        others = self.recent.nbytes + self._spill.nbytes + segments.slices.nbytes
        words = self._states.words.nbytes + segments.held * 8
        return int(words + others) + self._ahead

    @property
    def _ahead(self) -> int:
        """Bytes that may have been asked for ahead of states, at most."""
        return _AHEAD * 8 if self._one and self._states.in_place else 0

    @property
    def slot_count(self) -> int:
        """One more than the largest number that ``slots`` can answer."""
        return 2 * self._segments.held + len(self._spill)

    def sift(self, rows: Words) -> Words:
        """Leave out rows that were sifted lately; the others take their places.

        What is left has to be added, since it is taken for known from now on. Rows may
        be sifted while others are added.
        """
        sift = recent_filter.sift_one if self._one else recent_filter.sift_rows
        return rows[: sift(rows, len(rows), self.recent)]

    def add(self, rows: Words) -> None:
        """Add those of ``rows`` that are new; raise ``OverflowError`` if too many."""
        why = self.full_with(len(rows))
        if why:
            raise OverflowError(why)
        room, bits = self._room_for(len(rows))
        self._states.grow(room * self._width)
        if bits != self._segments.bits:
            self._grow_table(bits)
        self._progress[bucket_table.REACHED] = 0
        while self._insert(rows) < len(rows):
            self._grow_table(self._next_bits())

    def _insert(self, rows: Words) -> int:
        """Add rows until one finds no room; answer how many were dealt with."""
        table, slices = self._segments.buckets, self._segments.slices
        these = (rows, len(rows), self.rows, self.count, self._spill, self._progress)
        if self._exact:
            insert = bucket_table.insert_states
            self.count = insert(table, slices, self._bits, *these)
        else:
            self.count = bucket_table.insert_rows(table, slices, *these)
        return int(self._progress[bucket_table.REACHED])

    def touch_ahead(self) -> None:
        """Have memory for the next states be handed out: work for another thread."""
        self._states.touch_ahead(self.count * self._width, _AHEAD)

    def slots(self, rows: Words) -> Words:
        """Return a number for each row, the same for the same state."""
        slots = np.empty(len(rows), np.int64)
        table, slices = self._segments.buckets, self._segments.slices
        these = (rows, len(rows), self._spill, 2 * self._segments.held, slots)
        if self._exact:
            bucket_table.find_states(table, slices, self._bits, *these)
        else:
            bucket_table.find_rows(table, slices, self.rows, *these)
        return slots

    def prepare(self) -> None:
        """Compile what a search needs, so that its time is not that of compilation."""
        self.add(self.sift(self.rows[:0]))

    def memory_for(self, coming: int) -> int:
        """Return how many bytes are held, at most, while so many rows are added.

        An array that cannot grow in place is held twice for a moment.
        """
        room, bits = self._room_for(coming)
        others = self.memory - self._states.words.nbytes
        while_rows = others + self._states.bytes_for(room * self._width)
        others += room * self._width * 8 - self._segments.held * 8
        if bits != self._segments.bits:
            others += _spill_for(bits) * 8
        return max(while_rows, others + self._segments.bytes_for(bits))

    def full_with(self, coming: int) -> str:
        """Say that so many rows more may be more than the table can hold, or ""."""
        if self.count + coming <= MOST_ROWS:
            return ""
        if self._exact_in(bits_for(MOST_ROWS, self._segments.bits)):
            return ""
        return f"more than {MOST_ROWS:,} states, each of more than 57 bits"

    # The table ----------------------------------------------------------------------

    def _exact_in(self, bits: Sequence[int]) -> bool:
        """Return whether half a word is enough for a state in segments of that size."""
        return self._one and self._rest_bits - min(bits) < bucket_table.ENTRY_BITS

    @property
    def _exact(self) -> bool:
        """Whether the table holds the states themselves."""
        return self._exact_in(self._segments.bits)

    @property
    def _rest_bits(self) -> int:
        """How many bits of a state of one word its segment does not say, at most."""
        return self._bits - 2

    def _room_for(self, coming: int) -> tuple[int, tuple[int, ...]]:
        """Return how many rows, and buckets, there have to be before rows are added."""
        room, needed = len(self.rows), self.count + coming
        if needed > room:
            ahead = 0 if self._states.in_place else 2 * room
            room = max(ahead, needed)
        bits = self._segments.bits_with(needed)
        if self._exact_in(bits):
            # Each state that there can be has a bucket of its own.
            bits = tuple(min(b, self._rest_bits) for b in bits)
        return room, bits

    def _next_bits(self) -> tuple[int, ...]:
        """Return the sizes of the segments with the next one that would double."""
        bits = self._segments.bits
        may = [
            g
            for g, b in enumerate(bits)
            if (b < self._rest_bits if self._exact else tag_bits(g, b) > 0)
        ]
        if not may:
            message = "states whose hashes are alike are more than the table can hold"
            raise OverflowError(message)
        first = min(may, key=lambda g: states_in(g, bits[g]))
        return tuple(b + (g == first) for g, b in enumerate(bits))

    def _grow_table(self, bits: Sequence[int]) -> None:
        segments, before, exact = self._segments, self._segments.bits, self._exact
        segments.grow(bits)
        if self._exact is not exact:
            self._fill()
            return
        for g, (small, large) in enumerate(zip(before, bits, strict=True)):
            for b in range(small, large):
                if self.beside is not None:
                    words = bucket_table.BUCKET_WORDS << b
                    self.beside.submit(segments.touch, g, words * 3 // 2, words * 2)
                bucket_table.spread(segments.buckets, segments.first(g), 1 << b)
        grown = [g for g, b in enumerate(bits) if b != before[g]]
        again = self._spill[self._spill != bucket_table.EMPTY]
        self._spill = again  # the old one is let go of before there is a new one
        self._spill = self._empty_spill()
        if exact:
            again = np.invert(again, out=again).reshape(-1, 1)
        else:
            again -= 1
        # In a segment that has not grown buckets that were full are full.
        if not self._put(again, segments.first(grown[0]) if len(grown) == 1 else -1):
            self._refill()

    def _refill(self) -> None:
        """Put all states into a larger table, anew."""
        self._segments.grow(self._next_bits())
        self._fill()

    def _fill(self) -> None:
        """Put all states into the table, anew."""
        self._segments.clear()
        self._spill = self._empty_spill()
        for lo in range(0, self.count, _PUT_AT_ONCE):
            hi = min(self.count, lo + _PUT_AT_ONCE)
            part = self.rows[lo:hi] if self._exact else np.arange(lo, hi)
            if not self._put(part):
                self._refill()
                return

    def _put(self, held: Words, only: int = -1) -> bool:
        """Put states, or the numbers of rows, into the table; answer if all fit."""
        table, slices = self._segments.buckets, self._segments.slices
        others = (only, self._spill, self._progress)
        if self._exact:
            put = bucket_table.put_states
            return bool(put(table, slices, self._bits, held, len(held), *others))
        return bool(bucket_table.put_rows(table, slices, self.rows, held, *others))

    def _empty_spill(self) -> Words:
        self._progress[bucket_table.SPILLED] = 0
        return np.zeros(_spill_for(self._segments.bits), np.int64)


def _spill_for(bits: Sequence[int]) -> int:
    """Return how many words there are for states without room in their bucket."""
    least = words_in(bits) // _PER_SPILL
    return 1 << (least - 1).bit_length()
