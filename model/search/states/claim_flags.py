"""Which claims hold in a state and whether it rests, in as many words as needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from onceproof.model.language.terms import terms as t

    Words = NDArray[np.int64]

# The sign bit stays free, so a mask is the same number in Python and in a word.
FLAG_BITS = 63
REST = 0
"""The number of the flag that says whether a state rests. Claims follow."""


def flag_words(claims: int) -> int:
    """Count the words that hold the flags of so many claims, and of rest."""
    return -(-(claims + 1) // FLAG_BITS)


def bit_of(number: int) -> tuple[int, int]:
    """Return the word and the bit of a flag."""
    return divmod(number, FLAG_BITS)


class FlagNumbers:
    """The number of each claim's flag. Every claim has its own."""

    def __init__(self, terms: Iterable[t.Term]) -> None:
        """Number the claims, each once."""
        self._numbers = {
            term: number for number, term in enumerate(dict.fromkeys(terms), REST + 1)
        }

    @property
    def claims(self) -> list[t.Term]:
        """The claims, in the order of their flags."""
        return list(self._numbers)

    @property
    def words(self) -> int:
        """The number of words that a row's flags take."""
        return flag_words(len(self._numbers))

    def number(self, claim: t.Term) -> int:
        """Return the number of a claim's flag."""
        return self._numbers[claim]

    def of(self, rows: Words) -> Flags:
        """Read the flags of some rows, a row of words each."""
        return Flags(self._numbers, rows)

    def joined(self, parts: Sequence[Flags]) -> Flags:
        """Put the flags of several slices of rows together."""
        return self.of(np.concatenate([part.rows for part in parts]))


@dataclass(frozen=True)
class Flags:
    """The flags of some rows."""

    numbers: dict[t.Term, int]
    """The number of each claim's flag."""
    rows: Words
    """A row of words for each state."""

    def holds(self, claim: t.Term) -> NDArray[np.bool_]:
        """Return in which rows a claim holds."""
        return self._are_set(self.numbers[claim])

    @property
    def rests(self) -> NDArray[np.bool_]:
        """Return which rows rest."""
        return self._are_set(REST)

    def copy(self) -> Flags:
        """Keep the flags beyond the next expansion."""
        return Flags(self.numbers, self.rows.copy())

    def summary(self) -> Summary:
        """Sum the rows up, so that most questions need no look at each."""
        columns = self.rows.T
        return Summary(
            self.numbers,
            [int(np.bitwise_or.reduce(column)) for column in columns],
            [int(np.bitwise_and.reduce(column)) for column in columns],
        )

    def _are_set(self, number: int) -> NDArray[np.bool_]:
        word, bit = bit_of(number)
        found: NDArray[np.bool_] = self.rows[:, word] & (1 << bit) != 0
        return found


@dataclass(frozen=True)
class Summary:
    """The flags that are set in some row, and those that are set in every row."""

    numbers: dict[t.Term, int]
    """The number of each claim's flag."""
    some: list[int]
    """The flags that are set in at least one row, as words."""
    every: list[int]
    """The flags that are set in every row, as words."""

    @property
    def rests_somewhere(self) -> bool:
        """Whether a row rests."""
        return self._has(self.some, REST)

    def holds_somewhere(self, claim: t.Term) -> bool:
        """Return whether a claim holds in a row."""
        return self._has(self.some, self.numbers[claim])

    def holds_everywhere(self, claim: t.Term) -> bool:
        """Return whether a claim holds in every row."""
        return self._has(self.every, self.numbers[claim])

    @staticmethod
    def _has(words: list[int], number: int) -> bool:
        word, bit = bit_of(number)
        return words[word] >> bit & 1 == 1
