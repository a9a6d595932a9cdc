"""An array that grows keeps what it holds, wherever it lies."""

from __future__ import annotations

import mmap
import resource
import sys
import tracemalloc

import numpy as np
import pytest

from onceproof.model.search.states import growing_words
from onceproof.model.search.states.growing_words import WORTH_IT, GrowingWords

LARGE = WORTH_IT // 8


@pytest.mark.parametrize("reserved", [growing_words.RESERVED, 4 * WORTH_IT, WORTH_IT])
def test_what_is_there_stays_and_what_comes_is_zero(reserved):
    """Reserved for good, outgrown, or too little from the start."""
    held = GrowingWords(100, reserved=reserved)
    known = 0
    for size in (100, 5000, LARGE, LARGE + 1, 3 * LARGE, 9 * LARGE, 4 * LARGE):
        before = held.words
        held.grow(size)
        assert len(held.words) == max(size, len(before))
        assert held.words[known:].max(initial=0) == 0
        held.words[known:] = np.arange(known, len(held.words)) + 1
        known = len(held.words)
        assert np.array_equal(held.words, np.arange(known) + 1)
    assert held.in_place == (reserved == growing_words.RESERVED)


def test_where_it_grows_in_place_no_copy_is_made():
    held = GrowingWords(LARGE)
    held.grow(2 * LARGE)
    assert held.in_place
    address = held.words.ctypes.data

    tracemalloc.start()
    held.grow(20 * LARGE)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert held.words.ctypes.data == address
    assert most < LARGE
    assert held.bytes_for(30 * LARGE) == 30 * LARGE * 8


def test_without_addresses_to_reserve_it_is_copied(monkeypatch):
    def refused(*_, **__):
        raise OSError

    monkeypatch.setattr(mmap, "mmap", refused)
    held = GrowingWords(LARGE)
    held.words[:] = 7

    assert held.bytes_for(3 * LARGE) == 4 * LARGE * 8
    held.grow(3 * LARGE)

    assert not held.in_place
    assert held.words[:LARGE].min() == 7
    assert held.words[LARGE:].max() == 0
    assert held.bytes_for(4 * LARGE) == 7 * LARGE * 8


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone is asked")
def test_memory_that_is_asked_for_ahead_changes_nothing():
    """Words that are there, also beyond what is reserved; and it is there then."""
    held = GrowingWords(LARGE, reserved=8 * WORTH_IT)
    held.touch_ahead(0, LARGE)
    held.grow(2 * LARGE)
    held.words[:] = 5

    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    held.touch(LARGE, 100 * LARGE)
    held.touch_ahead(2 * LARGE, LARGE)
    asked = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    held.grow(8 * LARGE)
    later = held.words[2 * LARGE :]

    assert held.in_place
    assert held.words[: 2 * LARGE].min() == held.words.max() == 5
    assert later.max() == 0
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - asked
    assert faults * mmap.PAGESIZE < later.nbytes / 2, (before, asked, faults)


def test_a_system_that_hands_out_no_memory_ahead_is_left_to_its_own(monkeypatch):
    """It is asked again, and nothing else changes."""
    asked = []

    class Refusing:
        def madvise(self, *arguments: object) -> int:
            asked.append(arguments)
            return -1

    monkeypatch.setattr(growing_words, "_libc", Refusing)
    monkeypatch.setattr(growing_words.sys, "platform", "linux")
    held = GrowingWords(LARGE)
    held.grow(2 * LARGE)

    held.touch_ahead(0, LARGE)
    held.touch_ahead(0, LARGE)

    assert len(asked) == 2
    assert held.words.max() == 0
