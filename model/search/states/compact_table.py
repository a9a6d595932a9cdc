"""The compact hash table of states of one word: four bytes for each slot.

A state of ``bits`` bits is mixed one to one: no two states have the same mixed bits.
The high ones give the state's bucket, the others, at most 31, are its entry. So bucket
and entry are the state, exactly, and nothing else is read to tell two states apart. See
Knuth, The Art of Computer Programming, volume 3, 1998, exercise 13 of section 6.4.

A bucket is a cache line: sixteen entries, two in each word, filled from the front. An
entry is one more than the bits that it stands for, so an empty slot is zero. A state
that finds its bucket full goes, as its complement, to a small table of whole words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.compiling.kernel_language import fetch, high_bits, product
from onceproof.model.search.compiling.kernels import kernel

if TYPE_CHECKING:
    from onceproof.model.search.compiling.kernel_language import Row, Rows

AHEAD = 32
BUCKET = 16
"""How many entries a bucket has."""
BUCKET_WORDS = 8
ENTRY_BITS = 31
"""How many bits of a state an entry can hold."""
EMPTY = 0
PER_SPILL = 32
"""How many words of the table there are to each word for states without room in it."""
REACHED = 0
"""Where a kernel notes how many rows it has dealt with."""
SPILLED = 1
"""Where a kernel notes how many states found no room in their buckets."""
_ODD = 0x9E3779B97F4A7C15
_OTHER = 0xD6E8FEB86659FD93
_LOW = 0xFFFFFFFF


def _mixed(word: int, bits: int) -> int:
    mask = (1 << bits) - 1
    x = product(word, _ODD) & mask
    x = x ^ (x >> ((bits + 1) >> 1))
    return product(x, _OTHER) & mask


def _spill_slot(spill: Row, mixed: int, word: int) -> int:
    """Return where a state without room is, or the empty slot for it."""
    mask = len(spill) - 1
    h = mixed & mask
    while spill[h] != EMPTY and spill[h] != ~word:
        h = (h + 1) & mask
    return h


def _bucket_slot(table: Row, at: int, entry: int) -> int:
    """Return which slot of a bucket holds an entry, or its first empty one, or 16."""
    for s in range(BUCKET):
        held = high_bits(table[at + (s >> 1)], (s & 1) << 5) & _LOW
        if held == EMPTY or held == entry:  # noqa: PLR1714, SIM109 - kernels have no in
            return s
    return BUCKET


def _set(table: Row, at: int, slot: int, entry: int) -> None:
    """Put an entry into an empty slot of a bucket."""
    word = at + (slot >> 1)
    table[word] = table[word] | (entry << ((slot & 1) << 5))


@kernel
def insert_compact(
    table: Row,
    bits: int,
    left: int,
    rows: Rows,
    n: int,
    states: Rows,
    count: int,
    spill: Row,
    progress: Row,
) -> int:
    """Add the new ones among ``rows`` to one-word ``states``; return their number.

    ``left`` bits of each state are its entry. It begins where ``progress`` says, and
    stops early where ``spill`` has no more room. The buckets of a block are fetched
    before any is searched.
    """
    low = (1 << left) - 1
    first = progress[REACHED]
    hashes = np.empty(AHEAD, np.int64)
    for j in range(first, n + AHEAD):
        k = j - AHEAD
        if k >= first:
            mixed = hashes[k & (AHEAD - 1)]
            entry = (mixed & low) + 1
            at = (mixed >> left) * BUCKET_WORDS
            taken = 0
            met = 0
            for s in range(BUCKET_WORDS):
                word = table[at + s]
                one = word & _LOW
                other = high_bits(word, 32)
                met += one == entry
                met += other == entry
                taken += one != EMPTY
                taken += other != EMPTY
            if taken == BUCKET and met == 0:
                h = _spill_slot(spill, mixed, rows[k, 0])
                if spill[h] == EMPTY:
                    if progress[SPILLED] * 4 >= len(spill) * 3:
                        progress[REACHED] = k
                        return count
                    spill[h] = ~rows[k, 0]
                    progress[SPILLED] += 1
                    states[count, 0] = rows[k, 0]
                    count += 1
            else:
                # Whether a state is new cannot be foreseen, so there is no branch: for
                # one that is there the bucket's first word is written as it is.
                there = -met
                slot = taken & ~there
                place = at + (slot >> 1)
                new = (entry & ~there) << ((slot & 1) << 5)
                table[place] = table[place] | new
                states[count, 0] = rows[k, 0]
                count += 1 - met
        if j < n:
            mixed = _mixed(rows[j, 0], bits)
            hashes[j & (AHEAD - 1)] = mixed
            fetch(table[(mixed >> left) * BUCKET_WORDS])
    progress[REACHED] = n
    return count


@kernel
def spread_compact(table: Row, before: int, left: int) -> None:
    """Spread the buckets of the first ``before`` words over twice as many.

    ``left`` bits are an entry from now on: one less than before, which chooses between
    two buckets. The last bucket goes first, so none lands where another still waits.
    """
    low = (1 << left) - 1
    old = np.empty(BUCKET_WORDS, np.int64)
    for number in range((before >> 3) - 1, -1, -1):
        at = number * BUCKET_WORDS
        for s in range(BUCKET_WORDS):
            old[s] = table[at + s]
            table[at + s] = EMPTY
        ones = 0
        others = 0
        for s in range(BUCKET):
            held = high_bits(old[s >> 1], (s & 1) << 5) & _LOW
            if held == EMPTY:
                break
            bit = (held - 1) >> left
            entry = ((held - 1) & low) + 1
            if bit:
                _set(table, 2 * at + BUCKET_WORDS, others, entry)
                others += 1
            else:
                _set(table, 2 * at, ones, entry)
                ones += 1


@kernel
def fill_compact(
    table: Row,
    bits: int,
    left: int,
    states: Rows,
    count: int,
    spill: Row,
    progress: Row,
) -> bool:
    """Put states that differ into a table in which they are not; answer if all fit."""
    low = (1 << left) - 1
    for j in range(count):
        word = states[j, 0]
        mixed = _mixed(word, bits)
        at = (mixed >> left) * BUCKET_WORDS
        entry = (mixed & low) + 1
        slot = _bucket_slot(table, at, entry)
        if slot < BUCKET:
            _set(table, at, slot, entry)
        else:
            if progress[SPILLED] * 4 >= len(spill) * 3:
                return False
            spill[_spill_slot(spill, mixed, word)] = ~word
            progress[SPILLED] += 1
    return True


@kernel
def find_compact(
    table: Row, bits: int, left: int, rows: Rows, n: int, spill: Row, slots: Row
) -> None:
    """Return the slot of each of ``n`` rows of one word, or the empty one for it.

    Those of ``spill`` come after those of the table.
    """
    low = (1 << left) - 1
    for j in range(n):
        word = rows[j, 0]
        mixed = _mixed(word, bits)
        at = (mixed >> left) * BUCKET_WORDS
        slot = _bucket_slot(table, at, (mixed & low) + 1)
        if slot < BUCKET:
            slots[j] = 2 * at + slot
        else:
            slots[j] = 2 * len(table) + _spill_slot(spill, mixed, word)
