"""The hash table of states: open addressing over packed words, in native code.

A table has a power of two of slots; ``-1`` in a slot's first word marks it empty. A
state's slot is the high bits of its hash, so a table and the larger one that takes
its place hold their states in nearly the same order.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from onceproof.model.search.states.numba_cache import kernel

BLOCK = 512
EMPTY = -1
RECENT_BITS = 15


@njit(inline="always")
def _hash(word):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    x = np.uint64(word) * np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(32)
    return x * np.uint64(0xD6E8FEB86659FD93)


@njit(inline="always")
def _hash_many(row):  # type: ignore[no-untyped-def]
    x = np.uint64(0)
    for w in range(row.shape[0]):
        x = (x ^ np.uint64(row[w])) * np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(32)
    return x * np.uint64(0xD6E8FEB86659FD93)


@kernel
def insert_one(table, shift, rows, n, states, count, recent):  # type: ignore[no-untyped-def]
    """Add the new ones among ``rows`` to one-word ``states``; answer their number.

    ``recent`` remembers some of the states that were looked up last, in little
    memory: most successors of a level were met a moment ago. The slots of a block
    are touched before any is probed, so that the memory's latency is paid for many
    look-ups at once.
    """
    mask = table.shape[0] - 1
    words = np.empty(BLOCK, np.int64)
    slots = np.empty(BLOCK, np.int64)
    touched = np.int64(0)
    j = 0
    while j < n:
        held = 0
        while held < BLOCK and j < n:
            word = rows[j, 0]
            j += 1
            x = _hash(word)
            place = np.int64(x >> np.uint64(64 - RECENT_BITS))
            if recent[place] == word:
                continue
            recent[place] = word
            h = np.int64(x >> np.uint64(shift))
            words[held] = word
            slots[held] = h
            held += 1
            touched ^= table[h, 0]
        for k in range(held):
            word = words[k]
            h = slots[k]
            while True:
                found = table[h, 0]
                if found == word:
                    break
                if found == EMPTY:
                    table[h, 0] = word
                    states[count, 0] = word
                    count += 1
                    break
                h = (h + 1) & mask
    return count, touched


@kernel
def grow_one(table, larger, shift) -> None:  # type: ignore[no-untyped-def]
    """Move one-word states to a larger table, going through both in order."""
    mask = larger.shape[0] - 1
    for h in range(larger.shape[0]):
        larger[h, 0] = EMPTY
    words = np.empty(BLOCK, np.int64)
    for lo in range(0, table.shape[0], BLOCK):
        held = 0
        for h in range(lo, lo + BLOCK):
            word = table[h, 0]
            words[held] = word
            held += word != EMPTY
        for k in range(held):
            at = np.int64(_hash(words[k]) >> np.uint64(shift))
            while larger[at, 0] != EMPTY:
                at = (at + 1) & mask
            larger[at, 0] = words[k]


@kernel
def find(table, shift, row):  # type: ignore[no-untyped-def]
    """Return the slot that holds ``row``, or the empty one where it would go."""
    mask = table.shape[0] - 1
    x = _hash(row[0]) if row.shape[0] == 1 else _hash_many(row)
    h = np.int64(x >> np.uint64(shift))
    while table[h, 0] != EMPTY:
        same = True
        for w in range(row.shape[0]):
            if table[h, w] != row[w]:
                same = False
                break
        if same:
            break
        h = (h + 1) & mask
    return h


@kernel
def insert_many(table, shift, rows, n, states, count, recent):  # type: ignore[no-untyped-def]
    """Add the new ones among ``rows`` to ``states``; answer their number."""
    for j in range(n):
        h = find(table, shift, rows[j])
        if table[h, 0] == EMPTY:
            table[h] = rows[j]
            states[count] = rows[j]
            count += 1
    return count, recent[0]


@kernel
def grow_many(table, larger, shift) -> None:  # type: ignore[no-untyped-def]
    """Move the states of ``table`` to ``larger``, going through both in order."""
    larger[:] = EMPTY
    for h in range(table.shape[0]):
        if table[h, 0] != EMPTY:
            larger[find(larger, shift, table[h])] = table[h]


@kernel
def find_all(table, shift, rows, n, slots) -> None:  # type: ignore[no-untyped-def]
    """Return the slot of each of ``n`` rows."""
    for j in range(n):
        slots[j] = find(table, shift, rows[j])


@kernel
def sort_members(rows, n, words, shifts, bits) -> None:  # type: ignore[no-untyped-def]
    """Sort the members of one sort in each row, by their whole tuple.

    ``words`` and ``shifts`` say for each piece of a member's tuple, and each member,
    where it lies; ``bits`` how wide the piece is.
    """
    pieces, members = words.shape
    keys = np.empty(members, np.int64)
    for j in range(n):
        sorted_ = True
        for m in range(members):
            key = np.int64(0)
            for p in range(pieces):
                mask = (np.int64(1) << bits[p]) - 1
                piece = (rows[j, words[p, m]] >> shifts[p, m]) & mask
                key = (key << bits[p]) | piece
            keys[m] = key
            if m and keys[m - 1] > key:
                sorted_ = False
        if sorted_:
            continue
        for m in range(1, members):
            key = keys[m]
            i = m
            while i and keys[i - 1] > key:
                keys[i] = keys[i - 1]
                i -= 1
            keys[i] = key
        for m in range(members):
            key = keys[m]
            for p in range(pieces - 1, -1, -1):
                mask = (np.int64(1) << bits[p]) - 1
                word, shift = words[p, m], shifts[p, m]
                kept = rows[j, word] & ~(mask << shift)
                rows[j, word] = kept | ((key & mask) << shift)
                key >>= bits[p]


@kernel
def least_renaming(  # type: ignore[no-untyped-def]
    rows, n, words, shifts, masks, to_words, to_shifts, which, codes
) -> None:
    """Put the least of all its renamings in the place of each row.

    Element ``e`` lies in ``words[e]`` at ``shifts[e]``, and renaming ``k`` moves it
    to ``to_words[k, e]`` and ``to_shifts[k, e]``. Where it holds a member, ``which[e]``
    is not -1, and its code becomes ``codes[k, which[e], code]``.
    """
    width = rows.shape[1]
    least = np.empty(width, np.int64)
    row = np.empty(width, np.int64)
    for j in range(n):
        for k in range(to_words.shape[0]):
            row[:] = 0
            for e in range(words.shape[0]):
                value = (rows[j, words[e]] >> shifts[e]) & masks[e]
                if which[e] >= 0:
                    value = codes[k, which[e], value]
                row[to_words[k, e]] |= value << to_shifts[k, e]
            smaller = k == 0
            if not smaller:
                for w in range(width):
                    if row[w] != least[w]:
                        smaller = row[w] < least[w]
                        break
            if smaller:
                least[:] = row
        rows[j] = least
