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
    from onceproof.model.search.compiling.kernel_language import Blocks, Row, Rows

BLOCK = 512
EMPTY = 0
RECENT_BITS = 15
WAITING = 8192
"""How many states there is room for that wait while a table is spread."""
_ODD = 0x9E3779B97F4A7C15
_OTHER = 0xD6E8FEB86659FD93


def _hash(word: int) -> int:
    x = product(word, _ODD)
    return product(x ^ high_bits(x, 32), _OTHER)


def _copy(row: Row, into: Row) -> None:
    for w in range(len(row)):
        into[w] = row[w]


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


@kernel
def insert_one(
    table: Row, shift: int, rows: Rows, n: int, states: Rows, count: int
) -> int:
    """Add the new ones among ``rows`` to one-word ``states``; return their number.

    The slots of a block are fetched before any is probed, so that the memory's latency
    is paid for many look-ups at once.
    """
    mask = len(table) - 1
    slots = np.empty(BLOCK, np.int64)
    for lo in range(0, n, BLOCK):
        held = n - lo
        if held > BLOCK:  # noqa: PLR1730 - kernels have no min
            held = BLOCK
        for k in range(held):
            h = high_bits(_hash(rows[lo + k, 0]), shift)
            slots[k] = h
            fetch(table[h])
        for k in range(held):
            entry = ~rows[lo + k, 0]
            h = slots[k]
            while True:
                found = table[h]
                if found == entry:
                    break
                if found == EMPTY:
                    table[h] = entry
                    states[count, 0] = ~entry
                    count += 1
                    break
                h = (h + 1) & mask
    return count


@kernel
def spread_one(table: Row, before: int, shift: int, late: Row) -> bool:
    """Give each state of the first ``before`` slots its slot in the whole table.

    The rest is empty. The last state goes first, so that none lands where one still
    waits. Those few that might, near the start of the table, wait in ``late``. If there
    is no room for them it answers false, and the table has to be filled anew.
    """
    mask = len(table) - 1
    held = 0
    near = len(late) >> 1
    for h in range(before - 1, -1, -1):
        entry = table[h]
        if entry == EMPTY:
            continue
        table[h] = EMPTY
        at = high_bits(_hash(~entry), shift)
        waits = h < near or at < h
        while not waits and table[at] != EMPTY:
            at += 1
            waits = at > mask
        if not waits:
            table[at] = entry
            continue
        if held == len(late):
            return False
        late[held] = entry
        held += 1
    for k in range(held):
        at = high_bits(_hash(~late[k]), shift)
        while table[at] != EMPTY:
            at = (at + 1) & mask
        table[at] = late[k]
    return True


@kernel
def fill_one(table: Row, shift: int, states: Rows, count: int) -> None:
    """Put all ``count`` one-word states, which differ, into a table, anew."""
    mask = len(table) - 1
    for h in range(len(table)):
        table[h] = EMPTY
    for j in range(count):
        at = high_bits(_hash(states[j, 0]), shift)
        while table[at] != EMPTY:
            at = (at + 1) & mask
        table[at] = ~states[j, 0]


@kernel
def find_one(table: Row, shift: int, rows: Rows, n: int, slots: Row) -> None:
    """Return the slot of each of ``n`` rows of one word, or the empty one for it."""
    mask = len(table) - 1
    for j in range(n):
        word = rows[j, 0]
        h = high_bits(_hash(word), shift)
        while table[h] != ~word and table[h] != EMPTY:
            h = (h + 1) & mask
        slots[j] = h


@kernel
def sort_members(rows: Rows, n: int, words: Rows, shifts: Rows, bits: Row) -> None:
    """Sort the members of one sort in each row, by their whole tuple.

    ``words`` and ``shifts`` say for each piece of a member's tuple, and each member,
    where it lies; ``bits`` how wide the piece is.
    """
    pieces = words.shape[0]
    members = words.shape[1]
    keys = np.empty(members, np.int64)
    for j in range(n):
        ordered = True
        for m in range(members):
            key = 0
            for p in range(pieces):
                mask = (1 << bits[p]) - 1
                piece = (rows[j, words[p, m]] >> shifts[p, m]) & mask
                key = (key << bits[p]) | piece
            keys[m] = key
            if m and keys[m - 1] > key:
                ordered = False
        if ordered:
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
                mask = (1 << bits[p]) - 1
                word = words[p, m]
                shift = shifts[p, m]
                kept = rows[j, word] & ~(mask << shift)
                rows[j, word] = kept | ((key & mask) << shift)
                key >>= bits[p]


@kernel
def least_renaming(
    rows: Rows,
    n: int,
    words: Row,
    shifts: Row,
    masks: Row,
    to_words: Rows,
    to_shifts: Rows,
    which: Row,
    codes: Blocks,
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
        for k in range(len(to_words)):
            for w in range(width):
                row[w] = 0
            for e in range(len(words)):
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
                _copy(row, least)
        _copy(least, rows[j])
