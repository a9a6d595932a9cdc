"""The hash table of states: open addressing over packed words, in native code.

A table has a power of two of slots; ``-1`` in a slot's first word marks it empty.
A block of states is hashed and its slots touched before any is probed, so that
the memory's latency is paid for many look-ups at once.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 512
EMPTY = -1


@njit(cache=True, inline="always")
def _mix(word: int, shift: int) -> int:  # pragma: no cover - compiled
    x = np.uint64(word) * np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(32)
    x *= np.uint64(0xD6E8FEB86659FD93)
    return np.int64(x >> np.uint64(shift))


@njit(cache=True, nogil=True)
def insert_one(table, shift, rows, n, states, count):  # type: ignore[no-untyped-def]
    """Add the new ones among ``rows`` to one-word ``states``; answer their number."""
    mask = table.shape[0] - 1
    slots = np.empty(BLOCK, np.int64)
    touched = np.int64(0)
    for start in range(0, n, BLOCK):
        stop = min(n, start + BLOCK)
        for j in range(start, stop):
            h = _mix(rows[j, 0], shift)
            slots[j - start] = h
            touched ^= table[h, 0]
        for j in range(start, stop):
            word = rows[j, 0]
            h = slots[j - start]
            while True:
                held = table[h, 0]
                if held == word:
                    break
                if held == EMPTY:
                    table[h, 0] = word
                    states[count, 0] = word
                    count += 1
                    break
                h = (h + 1) & mask
    return count, touched


@njit(cache=True, inline="always")
def _mix_many(row, shift):  # type: ignore[no-untyped-def]
    x = np.uint64(0)
    for w in range(row.shape[0]):
        x = (x ^ np.uint64(row[w])) * np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(32)
    x *= np.uint64(0xD6E8FEB86659FD93)
    return np.int64(x >> np.uint64(shift))


@njit(cache=True, nogil=True)
def find(table, shift, row):  # type: ignore[no-untyped-def]
    """Give the slot that holds ``row``, or the empty one where it would go."""
    mask = table.shape[0] - 1
    h = _mix(row[0], shift) if row.shape[0] == 1 else _mix_many(row, shift)
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


@njit(cache=True, nogil=True)
def insert_many(table, shift, rows, n, states, count):  # type: ignore[no-untyped-def]
    """Add the new ones among ``rows`` to ``states``; answer their number."""
    for j in range(n):
        h = find(table, shift, rows[j])
        if table[h, 0] == EMPTY:
            table[h] = rows[j]
            states[count] = rows[j]
            count += 1
    return count, np.int64(0)


@njit(cache=True, nogil=True)
def find_all(table, shift, rows, n, slots) -> None:  # type: ignore[no-untyped-def]
    """Give the slot of each of ``n`` rows."""
    for j in range(n):
        slots[j] = find(table, shift, rows[j])
