"""The memory of the table of states: segments, which double one after the other.

A table that doubles as a whole is half empty afterwards. Here each of eight segments
has a share of the states of its own, from 12 to 21 parts of 128, and doubles as it is
full. The shares are such that the segments double at equal distances while the number
of states doubles. So the table takes about the same memory for each state at all times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.states.bucket_table import (
    BASE,
    BUCKET_BITS,
    BUCKET_WORDS,
    ENTRY_BITS,
    FIRST,
    NUMBER,
    SLICE_BITS,
    SLICE_WORDS,
    TAG_BITS,
)
from onceproof.model.search.states.growing_words import (
    RESERVED,
    WORTH_IT,
    have_handed_out,
    reserved_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Words = NDArray[np.int64]

SHARES = (12, 13, 14, 15, 16, 18, 19, 21)
"""How many slices each segment has."""
MOST_IN_BUCKET = 13
"""How many states a bucket of a full segment has, on average. Then 3 in 100 states find
their bucket full, and in all segments together, which are not as full, 1 in 100."""
MOST_ROWS = 1 << 31
"""For how many rows there are numbers in the entries of a table."""
_FIRST_STATES = 1 << 11
_STARTS = tuple(sum(SHARES[:g]) for g in range(len(SHARES)))


def states_in(segment: int, bits: int) -> int:
    """Return for how many states in all a segment of 2^bits buckets is full."""
    return (MOST_IN_BUCKET << bits << SLICE_BITS) // SHARES[segment]


def bits_for(states: int, before: Sequence[int]) -> tuple[int, ...]:
    """Return how many buckets each segment has for so many states, as logarithms."""
    found = list(before)
    for g in range(len(found)):
        while states_in(g, found[g]) < states:
            found[g] += 1
    return tuple(found)


FIRST_BITS = bits_for(_FIRST_STATES, (0,) * len(SHARES))
"""How many buckets the segments have at first."""


def words_in(bits: Sequence[int]) -> int:
    """Return how many words there are in segments with so many buckets."""
    return sum(BUCKET_WORDS << b for b in bits)


class Segments:
    """The words of a table in segments, zero at first, and where each slice is.

    Large ones lie in ranges of addresses that are reserved, and grow where they are.
    """

    def __init__(self, *, reserved: int = RESERVED) -> None:
        """Hold empty segments; at most ``reserved`` bytes in all grow in place."""
        self.bits = FIRST_BITS
        self._stride = reserved // 64 // len(SHARES) * BUCKET_WORDS
        self._asked = False
        self._reserved: Words | None = None
        self.words: Words = np.zeros(words_in(FIRST_BITS), np.int64)
        self.slices: Words = np.zeros((1 << SLICE_BITS, SLICE_WORDS), np.int64)
        self._lay_out()

    @property
    def held(self) -> int:
        """How many words there are in all segments."""
        return words_in(self.bits)

    @property
    def in_place(self) -> bool:
        """Whether segments grow where they are, so far."""
        return self._reserved is not None

    @property
    def buckets(self) -> Words:
        """The words, a row for each bucket."""
        return self.words.reshape(-1, BUCKET_WORDS)

    def first(self, segment: int) -> int:
        """Return the number of a segment's first bucket."""
        return self.bases[segment] // BUCKET_WORDS

    def bits_with(self, states: int) -> tuple[int, ...]:
        """Return how many buckets each segment has to have for so many states.

        Segments that have to be copied are made for twice as many.
        """
        least = bits_for(states, self.bits)
        if least == self.bits or self._grows_in_place(least):
            return least
        return bits_for(max(states, min(2 * states, MOST_ROWS)), self.bits)

    def bytes_for(self, bits: Sequence[int]) -> int:
        """Return how many bytes are held, at most, while segments grow to a size."""
        grown = words_in(bits) * 8
        if tuple(bits) == self.bits or self._grows_in_place(bits):
            return grown
        return self.held * 8 + grown

    def grow(self, bits: Sequence[int]) -> None:
        """Have segments of so many buckets, those that were there in front."""
        before, bases, old = self.bits, self.bases, self.words
        if words_in(bits) * 8 >= WORTH_IT and not self._asked:
            self._asked = True
            self._reserved = reserved_words(self._stride * len(SHARES) * 8)
        self.bits = tuple(bits)
        if not self._grows_in_place(bits):
            self._reserved = None
        reserved = self._reserved
        self.words = np.zeros(self.held, np.int64) if reserved is None else reserved
        self._lay_out()
        if self.words is not old:
            for base, target, b in zip(bases, self.bases, before, strict=True):
                size = BUCKET_WORDS << b
                self.words[target : target + size] = old[base : base + size]

    def clear(self) -> None:
        """Make all words zero again."""
        for base, bits in zip(self.bases, self.bits, strict=True):
            self.words[base : base + (BUCKET_WORDS << bits)] = 0

    def touch(self, segment: int, first: int, last: int) -> None:
        """Have the system hand out the memory of some words of a segment."""
        if self.in_place:
            base = self.bases[segment]
            have_handed_out(self.words, base + first, base + last)

    def _grows_in_place(self, bits: Sequence[int]) -> bool:
        fits = BUCKET_WORDS << max(bits) <= self._stride
        return self._reserved is not None and fits

    def _lay_out(self) -> None:
        """Say where each slice has its segment."""
        sizes = [BUCKET_WORDS << b for b in self.bits]
        numbers = [sum(sizes[:g]) for g in range(len(sizes))]
        apart = [g * self._stride for g in range(len(sizes))]
        self.bases = apart if self.in_place else numbers
        for g, share in enumerate(SHARES):
            rows = self.slices[_STARTS[g] : _STARTS[g] + share]
            rows[:, BASE] = self.bases[g] // BUCKET_WORDS
            rows[:, BUCKET_BITS] = self.bits[g]
            rows[:, FIRST] = _STARTS[g]
            rows[:, TAG_BITS] = tag_bits(g, self.bits[g])
            rows[:, NUMBER] = numbers[g] // BUCKET_WORDS


def tag_bits(segment: int, bits: int) -> int:
    """Return how many bits of an entry the numbers of rows leave for a tag.

    While a segment doubles the numbers need one bit more, and the tag has one less.
    """
    return ENTRY_BITS - states_in(segment, bits).bit_length()
