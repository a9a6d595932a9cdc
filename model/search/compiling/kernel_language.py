"""What a kernel may use: a part of Python that native code is made from.

A kernel has 64-bit integers, arrays of them, ``if``, ``while``, ``for`` over ``range``,
calls of other functions of its file, and what is in this file. Its parameters are
annotated: ``int``, ``bool``, or ``Row``, ``Rows`` and ``Blocks``. It may make a small
array with ``np.empty`` or ``np.zeros``, outside of loops. Constants are defined in its
own file. In native code integers wrap around at 64 bits, and indices are not checked.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Row: TypeAlias = NDArray[np.int64]
"""An array of 64-bit integers."""
Rows: TypeAlias = NDArray[np.int64]
"""Rows of 64-bit integers."""
Blocks: TypeAlias = NDArray[np.int64]
"""Blocks of rows of 64-bit integers."""

DIMENSIONS = {"int": 0, "bool": 0, "Row": 1, "Rows": 2, "Blocks": 3}
"""How many dimensions a parameter has that is annotated so."""

_WORD = 2**64
_SIGN = 2**63


def product(left: int, right: int) -> int:
    """Multiply, and keep the lowest 64 bits."""
    return (int(left) * int(right) + _SIGN) % _WORD - _SIGN


def high_bits(word: int, distance: int) -> int:
    """Shift the 64 bits of a word right, with zeros from the left."""
    return (int(word) % _WORD) >> int(distance)


def lowest_bit(word: int) -> int:
    """Return the number of the lowest bit that is set in a word that is not zero."""
    return (int(word) & -int(word)).bit_length() - 1


def same_halves(row: Row, value: int, mask: int) -> int:
    """Return which halves of the first eight words of a row have the bits of a value.

    Only the bits of a mask count. The lowest bit of the result is for the lower half of
    the first word, the next one for its upper half, and so on.
    """
    found = 0
    for s in range(16):
        half = (int(row[s >> 1]) >> (32 * (s & 1))) & 0xFFFFFFFF
        found |= ((half ^ value) & mask == 0) << s
    return found


def fetch(element: int) -> None:
    """Have an element brought into the processor's cache, ahead of its use."""
