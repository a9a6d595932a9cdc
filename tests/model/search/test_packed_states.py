"""States are held once, in the order in which they came in."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.model.search.exhaustive import explore
from onceproof.model.search.states import bucket_table, packed_states
from onceproof.model.search.states.packed_states import PackedStates
from onceproof.model.search.states.segments import Segments


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
    assert held.memory >= held.rows.nbytes + 4 * held.slot_count


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


@pytest.mark.parametrize("width", [1, 2])
def test_no_more_memory_is_taken_than_was_said_when_all_segments_are_alike(width):
    """The room for states without a place is the scarcest when the last one is full."""
    random = np.random.default_rng(width)
    held = PackedStates(width, 40)

    while held.count < 1_300_000:
        announced = held.memory_for(5000)
        held.add(random.integers(0, 1 << 40, (5000, width), np.int64))
        assert held.memory <= announced


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


def crowded(number: int, width: int) -> np.ndarray:
    """Give states of 40 bits that all have the same bucket in a small table."""
    states = np.zeros((3_000_000, width), np.int64)
    states[:, width - 1] = np.arange(len(states))
    segments, slots = Segments(), np.empty(len(states), np.int64)
    others = (states, len(states), np.zeros(8, np.int64), 2 * segments.held, slots)
    if width == 1:
        bucket_table.find_states(segments.buckets, segments.slices, 40, *others)
    else:
        bucket_table.find_rows(segments.buckets, segments.slices, states, *others)
    return np.ascontiguousarray(states[slots == slots[0]][:number])


@pytest.mark.parametrize(("width", "bits"), [(1, 40), (1, 63), (2, 63)])
def test_a_state_that_finds_its_bucket_full_is_held_once(width, bits):
    """There is room for some elsewhere, and for more once the table has grown."""
    held = PackedStates(width, bits)
    rows = crowded(2500, width)
    assert len(rows) == 2500

    for part in (rows[:16], rows[:100], rows[:120], rows, rows[::-1].copy()):
        held.add(part)
        assert held.count == len(np.unique(held.rows[: held.count], axis=0))

    each_once(held, rows)


def test_a_state_that_was_without_room_is_held_once_when_another_segment_grows():
    """Its bucket is full still, so it is looked for where it was put."""
    rows = crowded(40, 2)
    held = PackedStates(2)
    held.add(rows)
    spilled = held._progress[bucket_table.SPILLED]
    before = held._segments.bits

    for g in np.argsort(before):
        bits = list(held._segments.bits)
        bits[g] += 1
        held._grow_table(bits)
        held.add(rows)
        assert held.count == 40

    assert spilled == 24
    each_once(held, rows)


@pytest.mark.parametrize(
    ("width", "bits", "most"), [(1, 40, 2.0), (1, 50, 2.0), (1, 63, 2.0), (2, 63, 1.5)]
)
def test_a_state_takes_at_most_twice_its_own_memory_at_every_moment(width, bits, most):
    """And what is held for any number of states, less than six megabytes."""
    held = PackedStates(width, bits)
    random = np.random.default_rng(1)

    while held.count < 6_000_000:
        held.add(random.integers(0, 1 << bits, (125_000, width), np.int64))
        assert held.memory < most * 8 * width * held.count + 6 * 2**20


@pytest.mark.parametrize(
    ("name", "settings", "most"),
    [("two-phase-commit", {"RM": "8"}, 2.0), ("raft-election-forgetful", {}, 1.5)],
)
def test_a_whole_search_takes_little_more_than_its_states(name, settings, most):
    """With its successors, and all else that a limit on memory counts."""
    found = explore(trace(make(name, settings)))

    assert found.complete
    assert found.memory < most * found.packed + 10 * 2**20


def test_more_states_than_there_are_numbers_for_are_refused():
    """A state whose bits are enough needs no number."""
    for width, bits in ((1, 57), (1, 58), (3, 63)):
        held = PackedStates(width, bits)
        held.count = (1 << 31) - 5
        assert not held.full_with(5)
        assert bool(held.full_with(6)) == (bits > 57)
        if bits > 57:
            with pytest.raises(OverflowError, match="more than 2,147,483,648 states"):
                held.add(np.zeros((6, width), np.int64))


@pytest.mark.parametrize("reserved", [1 << 36, 1 << 22, 0])
@pytest.mark.parametrize("width", [1, 2])
def test_segments_that_cannot_grow_where_they_are_are_copied(reserved, width):
    """From the start, or once what is reserved is too little for one of them."""
    held = PackedStates(width, 40)
    held._segments = Segments(reserved=reserved)
    rows = np.arange(1_500_000 * width, dtype=np.int64).reshape(-1, width)

    for lo in range(0, len(rows), 100_000):
        held.add(rows[lo : lo + 100_000])

    assert held._segments.in_place == (reserved == 1 << 36)
    each_once(held, rows)


def test_a_search_stops_before_there_are_more_states_than_numbers(monkeypatch):
    """It has found no counterexample, and does not say that there is none."""
    monkeypatch.setattr(packed_states, "MOST_ROWS", 5000)

    found = explore(trace(make("raft-election", {})))

    assert not found.complete
    assert found.distinct <= 5000
    assert found.stopped == "more than 5,000 states, each of more than 57 bits"
