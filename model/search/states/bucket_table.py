"""The hash table of states, in native code: four bytes for each slot.

A bucket is a cache line: sixteen entries, two in each word, filled from the front. An
entry is never zero; an empty slot is. The table consists of segments, which
``segments.py`` lays out: the high bits of a state's hash, its slice, say in which
segment it is, and low bits in which of the segment's buckets. There are two kinds.

- A table of states (``insert_states``) holds states of few bits exactly. Their bits are
  mixed one to one, so no two states have the same. What neither slice nor bucket say of
  them is the entry, below a leading one. See Knuth, The Art of Computer Programming,
  volume 3, 1998, exercise 13 of section 6.4.
- A table of rows (``insert_rows``) holds the numbers of rows that have the states. An
  entry is one more than a row's number, and below it the next bits of the state's hash,
  its tag, so that a look-up rarely reads a row of another state.

In both the lowest bit of an entry is the next bit of the hash. So when a segment
doubles, that bit says which of two buckets the entry goes to, and is shifted out, and
nothing else is read. A state that finds its bucket full goes to a small table of whole
words, the spill.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.compiling.kernel_language import (
    fetch,
    high_bits,
    lowest_bit,
    product,
    same_halves,
)
from onceproof.model.search.compiling.kernels import kernel

if TYPE_CHECKING:
    from onceproof.model.search.compiling.kernel_language import Row, Rows

AHEAD = 32
BLOCK = 512
BUCKET = 16
"""How many entries a bucket has."""
BUCKET_WORDS = 8
ENTRY_BITS = 32
EMPTY = 0
SLICE_BITS = 7
"""How many of the highest bits of a hash say which slice a state is in."""
REACHED = 0
"""Where a kernel notes how many rows it has dealt with."""
SPILLED = 1
"""Where a kernel notes how many states found no room in their buckets."""
BASE = 0
"""Where a slice has the first bucket of its segment."""
BUCKET_BITS = 1
"""Where a slice has the logarithm of how many buckets its segment has."""
FIRST = 2
"""Where a slice has the first slice of its segment."""
TAG_BITS = 3
"""Where a slice has how many bits of its segment's entries are tags."""
NUMBER = 4
"""Where a slice has how many buckets the segments before its own have."""
SLICE_WORDS = 8
_ODD = 0x9E3779B97F4A7C15
_OTHER = 0xD6E8FEB86659FD93
_LOW = 0xFFFFFFFF


# Hashes and entries -----------------------------------------------------------------


def _mixed(word: int, bits: int) -> int:
    """Mix the bits of a word, one to one."""
    mask = (1 << bits) - 1
    half = (bits + 1) >> 1
    x = product(word, _ODD) & mask
    x = x ^ (x >> half)
    x = product(x, _OTHER) & mask
    return x ^ (x >> half)


def _hash(row: Row) -> int:
    x = 0
    for w in range(len(row)):
        x = product(x ^ row[w], _ODD)
        x = x ^ high_bits(x, 32)
    x = product(x, _OTHER)
    return x ^ high_bits(x, 32)


def _rest(mixed: int, bits: int, where: Row) -> int:
    """Return what a state's segment does not say of it, below a leading one."""
    return (mixed - (where[FIRST] << (bits - SLICE_BITS))) | (1 << (bits - 2))


def _bucket(low: int, where: Row) -> int:
    """Return the number of the bucket that the low bits of a hash choose."""
    return where[BASE] + (low & ((1 << where[BUCKET_BITS]) - 1))


def _numbered(at: int, where: Row, slot: int) -> int:
    """Return the number of a slot among those of all segments."""
    return (at - where[BASE] + where[NUMBER]) * BUCKET + slot


def _tag(hashed: int, where: Row) -> int:
    return (hashed >> where[BUCKET_BITS]) & ((1 << where[TAG_BITS]) - 1)


def _entry(bucket: Row, slot: int) -> int:
    return high_bits(bucket[slot >> 1], (slot & 1) << 5) & _LOW


def _set(bucket: Row, slot: int, entry: int) -> None:
    """Put an entry into an empty slot of a bucket."""
    bucket[slot >> 1] = bucket[slot >> 1] | (entry << ((slot & 1) << 5))


def _taken(bucket: Row) -> int:
    """Return how many slots of a bucket hold an entry: those in front."""
    return lowest_bit(same_halves(bucket, EMPTY, _LOW) | (1 << BUCKET))


def _same(one: Row, other: Row) -> bool:
    differ = 0
    for w in range(len(one)):
        differ |= one[w] ^ other[w]
    return differ == 0


def _full(spill: Row, progress: Row) -> bool:
    return progress[SPILLED] * 4 >= len(spill) * 3


@kernel
def spread(table: Rows, base: int, buckets: int) -> None:
    """Spread the buckets of a segment, which begins at ``base``, over twice as many."""
    old = np.empty(BUCKET_WORDS, np.int64)
    for at in range(base, base + buckets):
        for s in range(BUCKET_WORDS):
            old[s] = table[at, s]
            table[at, s] = EMPTY
        stay = 0
        move = 0
        for s in range(BUCKET):
            held = _entry(old, s)
            if held == EMPTY:
                break
            # Which bucket it is cannot be foreseen, so there is no branch.
            moves = held & 1
            _set(table[at + buckets * moves], stay + (move - stay) * moves, held >> 1)
            move += moves
            stay += 1 - moves


# A table of states ------------------------------------------------------------------


def _spilled_state(spill: Row, mixed: int, word: int) -> int:
    """Return where a state without room is, or the empty slot for it."""
    mask = len(spill) - 1
    h = mixed & mask
    while spill[h] != EMPTY and spill[h] != ~word:
        h = (h + 1) & mask
    return h


@kernel
def insert_states(
    table: Rows,
    slices: Rows,
    bits: int,
    rows: Rows,
    n: int,
    states: Rows,
    count: int,
    spill: Row,
    progress: Row,
) -> int:
    """Add the new ones among ``rows``, of ``bits`` bits, to ``states``; count these.

    It begins where ``progress`` says, and stops early where ``spill`` has no more room.
    A bucket is fetched 32 states before it is searched.
    """
    first = progress[REACHED]
    buckets = np.empty(AHEAD, np.int64)
    entries = np.empty(AHEAD, np.int64)
    for j in range(first, n + AHEAD):
        k = j - AHEAD
        if k >= first:
            entry = entries[k & (AHEAD - 1)]
            at = buckets[k & (AHEAD - 1)]
            bucket = table[at]
            taken = _taken(bucket)
            met = same_halves(bucket, entry, _LOW) != 0
            if taken == BUCKET and not met:
                h = _spilled_state(spill, _mixed(rows[k, 0], bits), rows[k, 0])
                if spill[h] == EMPTY:
                    if _full(spill, progress):
                        progress[REACHED] = k
                        return count
                    spill[h] = ~rows[k, 0]
                    progress[SPILLED] += 1
                    states[count, 0] = rows[k, 0]
                    count += 1
            else:
                # Whether a state is new cannot be foreseen, so there is no branch: for
                # one that is there the bucket's first word is written as it is.
                there = 0 - met
                _set(bucket, taken & ~there, entry & ~there)
                states[count, 0] = rows[k, 0]
                count += 1 - met
        if j < n:
            mixed = _mixed(rows[j, 0], bits)
            where = slices[mixed >> (bits - SLICE_BITS)]
            rest = _rest(mixed, bits, where)
            at = _bucket(rest, where)
            entries[j & (AHEAD - 1)] = rest >> where[BUCKET_BITS]
            buckets[j & (AHEAD - 1)] = at
            fetch(table[at, 0])
    progress[REACHED] = n
    return count


@kernel
def put_states(
    table: Rows,
    slices: Rows,
    bits: int,
    states: Rows,
    n: int,
    only: int,
    spill: Row,
    progress: Row,
) -> bool:
    """Put states that differ into a table that has none of them; answer if all fit.

    Only those whose segment begins at ``only`` find room in a bucket, unless that is
    negative.
    """
    for j in range(n):
        word = states[j, 0]
        mixed = _mixed(word, bits)
        where = slices[mixed >> (bits - SLICE_BITS)]
        rest = _rest(mixed, bits, where)
        at = _bucket(rest, where)
        slot = BUCKET
        if only < 0 or where[BASE] == only:
            slot = _taken(table[at])
        if slot < BUCKET:
            _set(table[at], slot, rest >> where[BUCKET_BITS])
        else:
            if _full(spill, progress):
                return False
            spill[_spilled_state(spill, mixed, word)] = ~word
            progress[SPILLED] += 1
    return True


@kernel
def find_states(
    table: Rows,
    slices: Rows,
    bits: int,
    rows: Rows,
    n: int,
    spill: Row,
    spilled: int,
    slots: Row,
) -> None:
    """Return the slot of each of ``n`` rows, or the empty one for it.

    Those of ``spill`` are numbered from ``spilled`` on.
    """
    for j in range(n):
        word = rows[j, 0]
        mixed = _mixed(word, bits)
        where = slices[mixed >> (bits - SLICE_BITS)]
        rest = _rest(mixed, bits, where)
        at = _bucket(rest, where)
        slot = _taken(table[at])
        alike = same_halves(table[at], rest >> where[BUCKET_BITS], _LOW)
        if alike:
            slot = lowest_bit(alike)
        if slot < BUCKET:
            slots[j] = _numbered(at, where, slot)
        else:
            slots[j] = spilled + _spilled_state(spill, mixed, word)


# A table of rows --------------------------------------------------------------------


def _spilled_row(spill: Row, hashed: int, row: Row, states: Rows) -> int:
    """Return where the number of a row without room is, or the empty slot for it."""
    mask = len(spill) - 1
    h = hashed & mask
    while spill[h] != EMPTY and not _same(states[spill[h] - 1], row):
        h = (h + 1) & mask
    return h


def _scan(bucket: Row, where: Row, hashed: int) -> int:
    """Look for entries with the tag of a hash.

    Answers how many entries the bucket has, and above these five bits which are alike.
    """
    taken = _taken(bucket)
    mask = (1 << where[TAG_BITS]) - 1
    alike = same_halves(bucket, _tag(hashed, where), mask)
    return ((alike & ((1 << taken) - 1)) << 5) | taken


def _number(bucket: Row, where: Row, slot: int) -> int:
    """Return the row that an entry has the number of."""
    return (_entry(bucket, slot) >> where[TAG_BITS]) - 1


def _slot_with(bucket: Row, where: Row, scanned: int, row: Row, states: Rows) -> int:
    """Return the slot with a row's number, plus 17; or the first empty one, or 16."""
    alike = scanned >> 5
    while alike:
        slot = lowest_bit(alike)
        if _same(states[_number(bucket, where, slot)], row):
            return BUCKET + 1 + slot
        alike = alike & (alike - 1)
    return scanned & 31


@kernel
def insert_rows(
    table: Rows,
    slices: Rows,
    rows: Rows,
    n: int,
    states: Rows,
    count: int,
    spill: Row,
    progress: Row,
) -> int:
    """Add the new ones among ``rows`` to ``states``; return how many there are.

    It begins where ``progress`` says, and stops early where ``spill`` has no more room.
    What a block needs of the table and of ``states`` is fetched before any is read.
    """
    hashes = np.empty(BLOCK, np.int64)
    scans = np.empty(BLOCK, np.int64)
    for lo in range(progress[REACHED], n, BLOCK):
        held = n - lo
        if held > BLOCK:  # noqa: PLR1730 - kernels have no min
            held = BLOCK
        for k in range(held):
            hashed = _hash(rows[lo + k])
            hashes[k] = hashed
            first = slices[high_bits(hashed, 64 - SLICE_BITS)]
            fetch(table[_bucket(hashed, first), 0])
        for k in range(held):
            then = slices[high_bits(hashes[k], 64 - SLICE_BITS)]
            found = table[_bucket(hashes[k], then)]
            scanned = _scan(found, then, hashes[k])
            scans[k] = scanned
            if scanned >> 5:
                fetch(states[_number(found, then, lowest_bit(scanned >> 5)), 0])
        for k in range(held):
            hashed = hashes[k]
            where = slices[high_bits(hashed, 64 - SLICE_BITS)]
            bucket = table[_bucket(hashed, where)]
            row = rows[lo + k]
            scanned = scans[k]
            if scanned & 31 < BUCKET and _entry(bucket, scanned & 31) != EMPTY:
                # A row of this block has come into the bucket.
                scanned = _scan(bucket, where, hashed)
            slot = _slot_with(bucket, where, scanned, row, states)
            if slot <= BUCKET:
                if slot == BUCKET:
                    h = _spilled_row(spill, hashed, row, states)
                    if spill[h] != EMPTY:
                        continue
                    if _full(spill, progress):
                        progress[REACHED] = lo + k
                        return count
                    spill[h] = count + 1
                    progress[SPILLED] += 1
                else:
                    tag = _tag(hashed, where)
                    _set(bucket, slot, ((count + 1) << where[TAG_BITS]) | tag)
                for w in range(len(row)):
                    states[count, w] = row[w]
                count += 1
    progress[REACHED] = n
    return count


@kernel
def put_rows(
    table: Rows,
    slices: Rows,
    states: Rows,
    numbers: Row,
    only: int,
    spill: Row,
    progress: Row,
) -> bool:
    """Put the numbers of rows into a table, as ``put_states`` does states."""
    for j in range(len(numbers)):
        number = numbers[j]
        hashed = _hash(states[number])
        where = slices[high_bits(hashed, 64 - SLICE_BITS)]
        at = _bucket(hashed, where)
        slot = BUCKET
        if only < 0 or where[BASE] == only:
            slot = _taken(table[at])
        if slot < BUCKET:
            entry = ((number + 1) << where[TAG_BITS]) | _tag(hashed, where)
            _set(table[at], slot, entry)
        else:
            if _full(spill, progress):
                return False
            spill[_spilled_row(spill, hashed, states[number], states)] = number + 1
            progress[SPILLED] += 1
    return True


@kernel
def find_rows(
    table: Rows,
    slices: Rows,
    states: Rows,
    rows: Rows,
    n: int,
    spill: Row,
    spilled: int,
    slots: Row,
) -> None:
    """Return the slot of each of ``n`` rows, as ``find_states`` does."""
    for j in range(n):
        hashed = _hash(rows[j])
        where = slices[high_bits(hashed, 64 - SLICE_BITS)]
        at = _bucket(hashed, where)
        scanned = _scan(table[at], where, hashed)
        slot = _slot_with(table[at], where, scanned, rows[j], states)
        if slot == BUCKET:
            slots[j] = spilled + _spilled_row(spill, hashed, rows[j], states)
        else:
            if slot > BUCKET:
                slot -= BUCKET + 1
            slots[j] = _numbered(at, where, slot)
