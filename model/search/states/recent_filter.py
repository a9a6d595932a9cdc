"""Leaves out the states that were met a moment ago, in native code.

Most successors of a level were met lately, so that a small table of the states met last
spares the large one most look-ups. It forgets, so what it lets through may be known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.search.compiling.kernel_language import high_bits, product
from onceproof.model.search.compiling.kernels import kernel

if TYPE_CHECKING:
    from onceproof.model.search.compiling.kernel_language import Row, Rows

RECENT_BITS = 17
"""Of how many states of one word the filter has room for, the logarithm."""
RECENT_ROWS_BITS = 13
"""The same, for states of several words."""
_ODD = 0x9E3779B97F4A7C15
_OTHER = 0xD6E8FEB86659FD93


def _hash(row: Row) -> int:
    x = 0
    for w in range(len(row)):
        x = product(x ^ row[w], _ODD)
        x = x ^ high_bits(x, 32)
    return product(x, _OTHER)


def _same(one: Row, other: Row) -> bool:
    differ = 0
    for w in range(len(one)):
        differ |= one[w] ^ other[w]
    return differ == 0


def _copy(row: Row, into: Row) -> None:
    for w in range(len(row)):
        into[w] = row[w]


@kernel
def sift_one(rows: Rows, n: int, recent: Rows) -> int:
    """Keep those of ``n`` rows of one word, in front, that were not met lately.

    ``recent`` remembers some of the states that were met last. Answers how many are
    left.
    """
    held = 0
    for j in range(n):
        word = rows[j, 0]
        place = high_bits(_hash(rows[j]), 64 - RECENT_BITS)
        rows[held, 0] = word
        held += recent[place, 0] != word
        recent[place, 0] = word
    return held


@kernel
def sift_rows(rows: Rows, n: int, recent: Rows) -> int:
    """Keep those of ``n`` rows of several words, as ``sift_one`` does."""
    held = 0
    for j in range(n):
        place = high_bits(_hash(rows[j]), 64 - RECENT_ROWS_BITS)
        if not _same(rows[j], recent[place]):
            _copy(rows[j], recent[place])
            _copy(rows[j], rows[held])
            held += 1
    return held
