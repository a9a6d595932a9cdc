"""States are held once, in the order in which they came in."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from onceproof.model.search.states.packed_states import PackedStates


@pytest.mark.parametrize("width", [1, 2, 5])
def test_a_state_is_held_once_with_the_number_of_its_first_row(width):
    """While the table grows, whichever word it is that tells states apart."""
    random = np.random.default_rng(width)
    held = PackedStates(width)
    seen: dict[tuple[int, ...], int] = {}

    for number in (0, 1, 700, 30_000, 30_000, 5):
        rows = random.integers(0, 3, (number, width), np.int64)
        rows[:, number % width] = random.integers(0, 40_000, number) << 40
        held.add(rows)
        for row in rows.tolist():
            seen.setdefault(tuple(row), len(seen))

    expected = np.array(list(seen), np.int64)
    slots = held.slots(expected)
    assert held.count == len(seen)
    assert np.array_equal(held.rows[: held.count], expected)
    assert len(set(slots.tolist())) == len(seen)
    assert slots.max() < held.slot_count
    held.add(expected)
    assert held.count == len(seen)
    assert held.memory >= held.rows.nbytes + 8 * held.slot_count


@pytest.mark.parametrize("width", [1, 2, 5])
def test_sifting_leaves_out_nothing_that_was_not_sifted_before(width):
    """Of many rows few are left, in their order, and all that differ are among them."""
    random = np.random.default_rng(width)
    sifted, whole = PackedStates(width), PackedStates(width)

    met = left = 0
    for _ in range(5):
        rows = random.integers(0, 40, (3000, width), np.int64)
        rows[:, 0] <<= 30
        whole.add(rows)
        kept = sifted.sift(rows.copy())
        met, left = met + len(rows), left + len(kept)
        sifted.add(kept)

    assert sifted.count == whole.count
    assert np.array_equal(sifted.rows[: whole.count], whole.rows[: whole.count])
    assert left < met


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("coming", [10, 500, 3000])
def test_the_memory_that_states_need_is_known_before_it_is_taken(width, coming):
    """Arrays that grow are held twice for a moment: rows, slots, both or neither."""
    rows = np.arange(6000 * width, dtype=np.int64).reshape(6000, width)
    PackedStates(width).prepare()

    tracemalloc.start()
    held = PackedStates(width)
    held.add(rows[:1000])
    expected = held.memory_for(coming)
    tracemalloc.reset_peak()
    held.add(rows[1000 : 1000 + coming])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert expected <= most <= expected + 5000
