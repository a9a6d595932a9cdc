"""Large arrays, in pages as large as the system gives."""

from __future__ import annotations

import contextlib
import mmap
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORTH_IT = 1 << 22


def words(rows: int, width: int) -> NDArray[np.int64]:
    """Give an array of ``rows`` by ``width`` 64-bit words; what it holds is undefined.

    A large one is asked for in huge pages: most of the time that a growing table
    takes is the system's, page by page.
    """
    size = rows * width * 8
    if size < _WORTH_IT or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.empty((rows, width), np.int64)
    block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a kernel without them
        block.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(block, np.int64).reshape(rows, width)
