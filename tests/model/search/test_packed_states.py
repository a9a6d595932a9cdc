"""States are held once, in the order in which they came in."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from onceproof.model.search.states import compact_table
from onceproof.model.search.states.packed_states import PackedStates


def each_once(held: PackedStates, expected: np.ndarray) -> None:
    """Assert that these states are held, in this order, each with a slot of its own."""
    slots = held.slots(expected)
    assert held.count == len(expected)
    assert np.array_equal(held.rows[: held.count], expected)
    assert len(set(slots.tolist())) == len(expected)
    assert slots.max() < held.slot_count
    held.add(expected)
    assert held.count == len(expected)


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

    each_once(held, np.array(list(seen), np.int64))
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


@pytest.mark.parametrize(("width", "bits"), [(1, 63), (1, 40), (1, 44), (3, 63)])
@pytest.mark.parametrize("coming", [10, 500, 3000])
def test_the_memory_that_states_need_is_known_before_it_is_taken(width, bits, coming):
    """Arrays that grow are held twice for a moment: rows, slots, both or neither."""
    rows = np.arange(6000 * width, dtype=np.int64).reshape(6000, width)
    PackedStates(width, bits).prepare()

    tracemalloc.start()
    held = PackedStates(width, bits)
    held.add(rows[:1000])
    expected = held.memory_for(coming)
    tracemalloc.reset_peak()
    held.add(rows[1000 : 1000 + coming])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert expected <= most <= expected + 5000


@pytest.mark.parametrize("bits", [1, 3, 8, 9, 12, 20, 31, 40, 41, 44, 50, 63])
def test_a_state_of_few_bits_is_held_once(bits):
    """Half a word is enough for it, from the start or once the table is large."""
    random = np.random.default_rng(bits)
    held = PackedStates(1, bits)
    seen: dict[int, int] = {}

    for number in (0, 1, 700, 30_000, 200_000, 5):
        rows = random.integers(0, 2 ** (bits - 1), (number, 1), np.int64)
        rows = rows | random.integers(0, 2, (number, 1)) << (bits - 1)
        held.add(rows)
        for state in rows[:, 0].tolist():
            seen.setdefault(state, len(seen))

    each_once(held, np.array(list(seen), np.int64).reshape(-1, 1))


def test_states_in_a_row_are_held_once():
    """Counters and flags make states that differ in few bits, high or low."""
    for step in (1, 1 << 8, 1 << 20, 3 << 24):
        held = PackedStates(1, 40)
        rows = np.arange(50_000, dtype=np.int64).reshape(-1, 1) * step % (1 << 40)

        held.add(rows)
        held.add(rows[::-1].copy())

        assert held.count == len(np.unique(rows))


def crowded(number, bits, left):
    """Give states that all have the same bucket in a small table."""
    states = np.arange(3_000_000, dtype=np.int64).reshape(-1, 1)
    table = np.zeros(compact_table.BUCKET_WORDS << (bits - left), np.int64)
    slots = np.empty(len(states), np.int64)
    none = np.zeros(8, np.int64)
    compact_table.find_compact(table, bits, left, states, len(states), none, slots)
    return states[slots == slots[0]][:number]


def test_a_state_that_finds_its_bucket_full_is_held_once():
    """There is room for some elsewhere, and for more once the table has grown."""
    held = PackedStates(1, 40)
    rows = crowded(4000, 40, 31)
    assert len(rows) == 4000

    for part in (rows[:16], rows[:100], rows[:120], rows, rows[::-1].copy()):
        held.add(part)
        assert held.count == len(np.unique(held.rows[: held.count]))

    each_once(held, np.ascontiguousarray(rows))


def test_the_table_of_states_of_few_bits_takes_half_of_what_it_took():
    """States of 40 bits take eight bytes each, and their table less at times."""
    few, many = PackedStates(1, 40), PackedStates(1)
    random = np.random.default_rng(1)
    ratios = []

    while few.count < 5_000_000:
        rows = random.integers(0, 1 << 40, (250_000, 1), np.int64)
        few.add(rows)
        many.add(rows)
        ratios.append(few.memory / (8 * few.count))

    assert ratios[-1] < 2
    assert max(ratios[8:]) < 2.6
    assert few.memory < 0.75 * many.memory
