"""The hash table of states of several words: it holds the numbers of their rows.

A state is held once, in its row. A slot has the row's number, and above it a few bits
of the state's hash, so that a look-up rarely reads a row of another state. ``-1`` marks
an empty slot. The slot itself is the high bits of the hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.compiling.kernel_language import fetch, high_bits, product
from onceproof.model.search.compiling.kernels import kernel

if TYPE_CHECKING:
    from onceproof.model.search.compiling.kernel_language import Row, Rows

EMPTY = -1
BLOCK = 512
RECENT_BITS = 13
_ROW_BITS = 40
_ROW = 0xFFFFFFFFFF
_TAG_AT = 16
_TAG = 0x7FFFFF
_ODD = 0x9E3779B97F4A7C15
_OTHER = 0xD6E8FEB86659FD93


def _hash(row: Row) -> int:
    x = 0
    for w in range(len(row)):
        x = product(x ^ row[w], _ODD)
        x = x ^ high_bits(x, 32)
    return product(x, _OTHER)


def _entry(hashed: int, number: int) -> int:
    return (((hashed >> _TAG_AT) & _TAG) << _ROW_BITS) | number


def _same(one: Row, other: Row) -> bool:
    differ = 0
    for w in range(len(one)):
        differ |= one[w] ^ other[w]
    return differ == 0


def _copy(row: Row, into: Row) -> None:
    for w in range(len(row)):
        into[w] = row[w]


def _fetch_slots(
    table: Row, shift: int, rows: Rows, lo: int, held: int, hashes: Row
) -> None:
    """Work out the hashes of a block of rows, and fetch the slots they begin at."""
    for k in range(held):
        hashes[k] = _hash(rows[lo + k])
        fetch(table[high_bits(hashes[k], shift)])


def _find(table: Row, shift: int, hashed: int, row: Row, states: Rows) -> int:
    """Return the slot that holds ``row``, or the empty one where it would go."""
    mask = len(table) - 1
    tag = (hashed >> _TAG_AT) & _TAG
    h = high_bits(hashed, shift)
    while table[h] != EMPTY:
        if table[h] >> _ROW_BITS == tag and _same(states[table[h] & _ROW], row):
            break
        h = (h + 1) & mask
    return h


@kernel
def sift_rows(rows: Rows, n: int, recent: Rows) -> int:
    """Keep those of ``n`` rows, in front, that were not met lately.

    ``recent`` remembers some of the states that were met last. Answers how many are
    left.
    """
    held = 0
    for j in range(n):
        place = high_bits(_hash(rows[j]), 64 - RECENT_BITS)
        if not _same(rows[j], recent[place]):
            _copy(rows[j], recent[place])
            _copy(rows[j], rows[held])
            held += 1
    return held


@kernel
def insert_rows(
    table: Row, shift: int, rows: Rows, n: int, states: Rows, count: int
) -> int:
    """Add the new ones among ``rows`` to ``states``; return their number.

    What a block needs of the table and of ``states`` is fetched before any of it is
    read.
    """
    hashes = np.empty(BLOCK, np.int64)
    for lo in range(0, n, BLOCK):
        held = n - lo
        if held > BLOCK:  # noqa: PLR1730 - kernels have no min
            held = BLOCK
        _fetch_slots(table, shift, rows, lo, held, hashes)
        for k in range(held):
            found = table[high_bits(hashes[k], shift)]
            if found >> _ROW_BITS == (hashes[k] >> _TAG_AT) & _TAG:
                fetch(states[found & _ROW, 0])
        for k in range(held):
            h = _find(table, shift, hashes[k], rows[lo + k], states)
            if table[h] == EMPTY:
                table[h] = _entry(hashes[k], count)
                _copy(rows[lo + k], states[count])
                count += 1
    return count


@kernel
def fill(table: Row, shift: int, states: Rows, count: int) -> None:
    """Put all ``count`` states, which differ, into a table that they fit into."""
    mask = len(table) - 1
    for h in range(len(table)):
        table[h] = EMPTY
    hashes = np.empty(BLOCK, np.int64)
    for lo in range(0, count, BLOCK):
        held = count - lo
        if held > BLOCK:  # noqa: PLR1730 - kernels have no min
            held = BLOCK
        _fetch_slots(table, shift, states, lo, held, hashes)
        for k in range(held):
            h = high_bits(hashes[k], shift)
            while table[h] != EMPTY:
                h = (h + 1) & mask
            table[h] = _entry(hashes[k], lo + k)


@kernel
def find_rows(
    table: Row, shift: int, states: Rows, rows: Rows, n: int, slots: Row
) -> None:
    """Return the slot of each of ``n`` rows."""
    for j in range(n):
        slots[j] = _find(table, shift, _hash(rows[j]), rows[j], states)
