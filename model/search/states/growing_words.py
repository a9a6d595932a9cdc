"""Words whose number grows without a second copy of them, where the system can."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import mmap
import sys
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.int64]

WORTH_IT = 1 << 22
"""From how many bytes on room is reserved: less is copied as fast."""
RESERVED = 1 << 36
"""How many bytes of addresses are reserved. They take no memory until they are used."""
_POPULATE_WRITE = 23
"""The advice to Linux, from 5.14 on, to hand out memory now; Python has no name for it.
"""
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)


class GrowingWords:
    """An array of 64-bit words, zero at first, to which more are added at the end.

    A large array lies in a range of addresses that is reserved, so it grows where it
    is, in huge pages: most of the time that a growing table takes is the system's, page
    by page. Where nothing can be reserved, or too little, it is copied as it grows.
    """

    def __init__(self, words: int, *, reserved: int = RESERVED) -> None:
        """Hold so many words; at most ``reserved`` bytes grow in place."""
        self.words: Words = np.zeros(words, np.int64)
        self._most = reserved
        self._reserved: Words | None = None
        self._asked = False
        self._touched = 0

    @property
    def in_place(self) -> bool:
        """Whether more words take no copy of those that are there."""
        return self._reserved is not None

    def bytes_for(self, words: int) -> int:
        """Return how many bytes are held, at most, while the array grows to a size."""
        held = self.words.nbytes
        if words <= len(self.words):
            return held
        grown = words * 8
        stays = self._reserved is not None and words <= len(self._reserved)
        return grown if stays else held + grown

    def grow(self, words: int) -> None:
        """Have so many words, those that were there in front."""
        if words <= len(self.words):
            return
        if words * 8 >= WORTH_IT and not self._asked:
            self._asked = True
            self._reserved = reserved_words(self._most)
            if self._reserved is not None:
                self._reserved[: len(self.words)] = self.words
        if self._reserved is not None and words <= len(self._reserved):
            self.words = self._reserved[:words]
            return
        grown = np.zeros(words, np.int64)
        grown[: len(self.words)] = self.words
        self.words, self._reserved = grown, None

    def touch(self, first: int, last: int) -> None:
        """Have the system hand out the memory of some words, if they grow in place.

        It takes the system longer to hand out memory than a search to fill it, so this
        is for another thread to do ahead. It changes no word.
        """
        if self._reserved is not None:
            end = min(last, len(self._reserved))
            if have_handed_out(self._reserved, first, end):
                self._touched = max(self._touched, end * 8)

    def touch_ahead(self, words: int, most: int) -> None:
        """Have the memory of so many words after the first ``words`` be handed out.

        Does nothing while half of what it asked for before is left.
        """
        if self._reserved is None or self._touched >= (words + most // 2) * 8:
            return
        self.touch(max(words, self._touched // 8), words + most)


def reserved_words(most: int) -> Words | None:
    """Reserve so many bytes of addresses, for words that are zero; None if refused."""
    if not hasattr(mmap, "MAP_ANONYMOUS"):
        return None
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
    try:
        block = mmap.mmap(-1, most, flags=flags)
    except (OSError, ValueError):  # a limit on addresses
        return None
    with contextlib.suppress(OSError, AttributeError):  # a system without them
        block.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(block, np.int64)


def have_handed_out(reserved: Words, first: int, last: int) -> bool:
    """Have the system hand out the memory of some reserved words; answer if it does."""
    start, end = first * 8 // mmap.PAGESIZE * mmap.PAGESIZE, last * 8
    if end <= start or sys.platform != "linux":
        return False
    place = ctypes.c_void_p(reserved.ctypes.data + start)
    # A system that does not know the advice refuses it, and nothing is lost.
    done = _libc().madvise(place, ctypes.c_size_t(end - start), _POPULATE_WRITE)
    return bool(done == 0)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)
