"""The hash table of states of one word: open addressing, in native code.

A table has a power of two of slots. One that holds a state has the complement of its
word, which is never zero: an empty slot is zero, as fresh memory is. A state's slot is
the high bits of its hash, so a table and the larger one that takes its place hold their
states in nearly the same order. ``row_table.py`` is for states of several words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.compiling.kernel_language import fetch, high_bits, product
from onceproof.model.search.compiling.kernels import kernel

if TYPE_CHECKING:
    from onceproof.model.search.compiling.kernel_language import Row, Rows

BLOCK = 512
AHEAD = 32
BUCKET_BITS = 3
BUCKET = 8
EMPTY = 0
RECENT_BITS = 17
WAITING = 8192
"""How many states there is room for that wait while a table is spread."""
_ODD = 0x9E3779B97F4A7C15
_OTHER = 0xD6E8FEB86659FD93


def _hash(word: int) -> int:
    x = product(word, _ODD)
    return product(x ^ high_bits(x, 32), _OTHER)


@kernel
def sift_one(rows: Rows, n: int, recent: Rows) -> int:
    """Keep those of ``n`` rows of one word, in front, that were not met lately.

    ``recent`` remembers some of the states that were met last, in little memory: most
    successors of a level were met a moment ago. Answers how many are left.
    """
    held = 0
    for j in range(n):
        word = rows[j, 0]
        place = high_bits(_hash(word), 64 - RECENT_BITS)
        rows[held, 0] = word
        held += recent[place, 0] != word
        recent[place, 0] = word
    return held


def _room(table: Row, at: int) -> int:
    """Return how many slots of a bucket hold a state: those in front."""
    taken = 0
    for s in range(BUCKET):
        taken += table[at + s] != EMPTY
    return taken


def _put(table: Row, at: int, entry: int) -> None:
    """Put a state that is not there into a bucket, or into the next that has room."""
    while True:
        taken = _room(table, at)
        if taken < BUCKET:
            table[at + taken] = entry
            return
        at = (at + BUCKET) & (len(table) - 1)


@kernel
def insert_one(
    table: Row, shift: int, rows: Rows, n: int, states: Rows, count: int
) -> int:
    """Add the new ones among ``rows`` to one-word ``states``; return their number.

    The buckets of a block are fetched before any is searched, so that the memory's
    latency is paid for many look-ups at once.
    """
    mask = len(table) - 1
    buckets = np.empty(AHEAD, np.int64)
    for j in range(n + AHEAD):
        k = j - AHEAD
        if k >= 0:
            entry = ~rows[k, 0]
            at = buckets[k & (AHEAD - 1)]
            while True:
                taken = 0
                met = 0
                for s in range(BUCKET):
                    found = table[at + s]
                    taken += found != EMPTY
                    met += found == entry
                if met or taken < BUCKET:
                    break
                at = (at + BUCKET) & mask
            # Whether a state is new cannot be foreseen, so there is no branch: for one
            # that is there the bucket's first slot is written as it is.
            there = -met
            table[at + (taken & ~there)] = (entry & ~there) | (table[at] & there)
            states[count, 0] = ~entry
            count += 1 - met
        if j < n:
            at = high_bits(_hash(rows[j, 0]), shift) * BUCKET
            buckets[j & (AHEAD - 1)] = at
            fetch(table[at])
    return count


@kernel
def spread_one(table: Row, before: int, shift: int, late: Row) -> bool:
    """Give each state of the first ``before`` slots its bucket in the whole table.

    The rest is empty. The last bucket goes first, so that no state lands where one
    still waits. Those few that might, near the start of the table, wait in ``late``. If
    there is no room for them it answers false, and the table has to be filled anew.
    """
    mask = len(table) - 1
    held = 0
    for number in range((before >> BUCKET_BITS) - 1, -1, -1):
        bucket = number << BUCKET_BITS
        for s in range(BUCKET):
            entry = table[bucket + s]
            if entry == EMPTY:
                break
            table[bucket + s] = EMPTY
            at = high_bits(_hash(~entry), shift) * BUCKET
            waits = at <= bucket
            while not waits:
                taken = _room(table, at)
                if taken < BUCKET:
                    table[at + taken] = entry
                    break
                at += BUCKET
                waits = at > mask
            if waits:
                if held == len(late):
                    return False
                late[held] = entry
                held += 1
    for k in range(held):
        _put(table, high_bits(_hash(~late[k]), shift) * BUCKET, late[k])
    return True


@kernel
def fill_one(table: Row, shift: int, states: Rows, count: int) -> None:
    """Put all ``count`` one-word states, which differ, into a table, anew."""
    for h in range(len(table)):
        table[h] = EMPTY
    for j in range(count):
        word = states[j, 0]
        _put(table, high_bits(_hash(word), shift) * BUCKET, ~word)


@kernel
def find_one(table: Row, shift: int, rows: Rows, n: int, slots: Row) -> None:
    """Return the slot of each of ``n`` rows of one word, or the empty one for it."""
    mask = len(table) - 1
    for j in range(n):
        word = rows[j, 0]
        h = high_bits(_hash(word), shift) * BUCKET
        while table[h] != ~word and table[h] != EMPTY:
            h = (h + 1) & mask
        slots[j] = h
