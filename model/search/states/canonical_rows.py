"""Packed states are brought to one form: members are sorted, or names are swapped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.compiling.kernels import kernel

if TYPE_CHECKING:
    from onceproof.model.search.compiling.kernel_language import Blocks, Row, Rows


def _copy(row: Row, into: Row) -> None:
    for w in range(len(row)):
        into[w] = row[w]


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


def _rename(
    rows: Rows,
    j: int,
    k: int,
    words: Row,
    shifts: Row,
    masks: Row,
    to_words: Rows,
    to_shifts: Rows,
    which: Row,
    codes: Blocks,
    into: Row,
) -> None:
    """Put row ``j`` under renaming ``k`` into a row, as ``least_renaming`` says."""
    for w in range(len(into)):
        into[w] = 0
    for e in range(len(words)):
        value = (rows[j, words[e]] >> shifts[e]) & masks[e]
        if which[e] >= 0:
            value = codes[k, which[e], value]
        into[to_words[k, e]] |= value << to_shifts[k, e]


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
    chosen: Row,
) -> None:
    """Put the least of all its renamings in the place of each row.

    Element ``e`` lies in ``words[e]`` at ``shifts[e]``, and renaming ``k`` moves it
    to ``to_words[k, e]`` and ``to_shifts[k, e]``. Where it holds a member, ``which[e]``
    is not -1, and its code becomes ``codes[k, which[e], code]``. The number of the
    renaming, the first of several, goes to ``chosen`` if that has any room.
    """
    width = rows.shape[1]
    least = np.empty(width, np.int64)
    row = np.empty(width, np.int64)
    for j in range(n):
        first = 0
        for k in range(len(to_words)):
            _rename(
                rows, j, k, words, shifts, masks, to_words, to_shifts, which, codes, row
            )
            smaller = k == 0
            if not smaller:
                for w in range(width):
                    if row[w] != least[w]:
                        smaller = row[w] < least[w]
                        break
            if smaller:
                first = k
                _copy(row, least)
        _copy(least, rows[j])
        if len(chosen) > 0:
            chosen[j] = first


@kernel
def unmoved_by(
    rows: Rows,
    n: int,
    words: Row,
    shifts: Row,
    masks: Row,
    to_words: Rows,
    to_shifts: Rows,
    which: Row,
    codes: Blocks,
    stays: Rows,
) -> None:
    """Note in ``stays[j, k]`` whether renaming ``k`` leaves row ``j`` as it is."""
    width = rows.shape[1]
    row = np.empty(width, np.int64)
    for j in range(n):
        for k in range(len(to_words)):
            _rename(
                rows, j, k, words, shifts, masks, to_words, to_shifts, which, codes, row
            )
            same = 0
            for w in range(width):
                same += row[w] == rows[j, w]
            stays[j, k] = same == width
