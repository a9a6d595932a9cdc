"""Kernels mean in native code what they mean in Python."""

from __future__ import annotations

import numpy as np
import pytest

from onceproof.model.search.compiling.kernel_code import kernel_ir
from onceproof.model.search.compiling.kernel_language import lowest_bit, same_halves
from onceproof.model.search.compiling.kernel_values import KernelError
from onceproof.model.search.compiling.kernels import Kernel
from onceproof.model.search.reduction import closure
from onceproof.model.search.states import (
    bucket_table,
    canonical_rows,
    recent_filter,
)
from onceproof.model.search.states.packed_states import PackedStates
from onceproof.model.search.states.segments import FIRST_BITS, Segments

RANDOM = np.random.default_rng(5)


def words(*shape: int, below: int = 2**63 - 1) -> np.ndarray:
    """Draw words; a packed state is never negative."""
    return RANDOM.integers(0, below, shape, np.int64)


def empty(rows: int, width: int) -> np.ndarray:
    """Give room for states without one in it."""
    return np.full((rows, width), -1, np.int64)


BITS = 24
"""Of states in a table of states."""


def table() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Give a table with room for few states, and room for others."""
    segments = Segments()
    room = np.zeros(64, np.int64), np.zeros(2, np.int64)
    return segments.buckets, segments.slices, *room


def drawn(number: int, width: int) -> np.ndarray:
    """Draw states that differ."""
    rows = words(2 * number, width, below=1 << BITS)
    return np.unique(rows, axis=0)[:number]


def inserting(width: int, number: int) -> tuple[object, ...]:
    """Add states, many of them twice; of too many it adds what there is room for."""
    buckets, slices, spill, progress = table()
    rows = words(number, width, below=1 << BITS)
    rows[1::3] = rows[::3][: len(rows[1::3])]
    bits = (BITS,) if width == 1 else ()
    states = empty(number, width)
    return buckets, slices, *bits, rows, number, states, 0, spill, progress


def putting(width: int, number: int, only: int = -1) -> tuple[object, ...]:
    """Put states that differ into a table; not all of too many."""
    buckets, slices, spill, progress = table()
    states = drawn(number, width)
    kinds: tuple[object, ...] = (BITS, states, number)
    if width > 1:
        kinds = (states, np.arange(number))
    return buckets, slices, *kinds, only, spill, progress


def filled(width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Give a table, where its segments are, its spill, and its states."""
    arguments = putting(width, 1900)
    put = bucket_table.put_states if width == 1 else bucket_table.put_rows
    assert put(*arguments)
    assert arguments[-1][bucket_table.SPILLED] > 0
    return arguments[0], arguments[1], arguments[-2], drawn_states(arguments, width)


def drawn_states(arguments: tuple[object, ...], width: int) -> np.ndarray:
    """Give the states that are put."""
    states = arguments[3 if width == 1 else 2]
    assert isinstance(states, np.ndarray)
    return states


def spreading(width: int) -> tuple[object, ...]:
    """Spread the last segment of a table over one of twice its size."""
    buckets, slices, _, _ = filled(width)
    more = np.zeros((1 << FIRST_BITS[-1], bucket_table.BUCKET_WORDS), np.int64)
    base = int(slices[-1, bucket_table.BASE])
    return np.concatenate([buckets, more]), base, len(more)


def finding(width: int) -> tuple[object, ...]:
    """Look states up, some of which are there."""
    buckets, slices, spill, states = filled(width)
    rows = np.concatenate([states, words(500, width, below=1 << BITS)])
    kinds = (BITS,) if width == 1 else (states,)
    slots = np.zeros(len(rows), np.int64)
    others = (len(rows), spill, 16 * len(buckets), slots)
    return buckets, slices, *kinds, rows, *others


def sifting(width: int) -> tuple[object, ...]:
    """Leave out states that were met a moment ago."""
    rows = words(700, width, below=3 if width == 3 else 500)
    return rows, 600, PackedStates(width).recent


def sorting() -> tuple[object, ...]:
    """Sort five members, each of two pieces in two words."""
    where = np.array([[0] * 5, [1] * 5], np.int64)
    shifts = np.array([[0, 3, 6, 9, 12], [40, 44, 48, 52, 56]], np.int64)
    return words(200, 2), 190, where, shifts, np.array([3, 4], np.int64)


def renaming() -> tuple[object, ...]:
    """Swap two members, whose numbers a third element holds."""
    return (
        words(200, 2, below=64),
        190,
        np.array([0, 0, 1], np.int64),
        np.array([0, 3, 0], np.int64),
        np.array([7, 7, 1], np.int64),
        np.array([[0, 0, 1], [0, 0, 1]], np.int64),
        np.array([[0, 3, 0], [3, 0, 0]], np.int64),
        np.array([-1, -1, 0], np.int64),
        np.array([[[0, 1]], [[1, 0]]], np.int64),
    )


def renaming_noted() -> tuple[object, ...]:
    """As ``renaming``, with room for which renaming was taken."""
    return (*renaming(), np.zeros(200, np.int64))


def renaming_for_itself() -> tuple[object, ...]:
    """As ``renaming``, with no room for which renaming was taken."""
    return (*renaming(), np.empty(0, np.int64))


def unmoved() -> tuple[object, ...]:
    """As ``renaming``, with room for which renamings change nothing."""
    return (*renaming(), np.full((200, 2), 7, np.int64))


def reducing(*, rest: bool) -> tuple[object, ...]:
    """Choose among the events of states, of which there are more than a word holds."""
    events, conditions, rows = 70, 90, 40
    enabled = [np.flatnonzero(RANDOM.random(events) < 0.2) for _ in range(rows)]
    sources = np.repeat(np.arange(rows), [len(e) for e in enabled])
    sparse = RANDOM.random((2 * events + 2 * conditions + 9, 2, 62)) < 0.03
    sets = (sparse << np.arange(62)).sum(axis=2) & np.array([2**62 - 1, 2**8 - 1])
    starts = np.sort(RANDOM.integers(0, conditions, events + 1))
    goals = np.array([0, 4, 4, 9], np.int64)
    places = np.stack([RANDOM.integers(0, 2, 99), RANDOM.integers(0, 60, 99)], axis=1)
    return (
        100,
        np.concatenate(enabled),
        100 + sources,
        words(rows, 2),
        sets[:events],
        sets[events : 2 * events],
        starts,
        places[:conditions],
        sets[2 * events :][:conditions],
        goals,
        places[conditions:],
        sets[-9:],
        words(2, below=2**62),
        rest,
        np.zeros(len(sources), np.int64),
    )


CASES = [
    pytest.param(recent_filter.sift_one, lambda: sifting(1), id="sift one"),
    pytest.param(recent_filter.sift_rows, lambda: sifting(3), id="sift many"),
    pytest.param(
        bucket_table.insert_states, lambda: inserting(1, 2500), id="insert states"
    ),
    pytest.param(
        bucket_table.insert_states, lambda: inserting(1, 9000), id="too many states"
    ),
    pytest.param(
        bucket_table.insert_rows, lambda: inserting(3, 2500), id="insert rows"
    ),
    pytest.param(
        bucket_table.insert_rows, lambda: inserting(2, 9000), id="too many rows"
    ),
    pytest.param(bucket_table.put_states, lambda: putting(1, 1500), id="put states"),
    pytest.param(bucket_table.put_states, lambda: putting(1, 5000), id="put too many"),
    pytest.param(
        bucket_table.put_states, lambda: putting(1, 40, only=0), id="put some states"
    ),
    pytest.param(bucket_table.put_rows, lambda: putting(3, 1500), id="put rows"),
    pytest.param(
        bucket_table.put_rows, lambda: putting(2, 5000), id="put too many rows"
    ),
    pytest.param(
        bucket_table.put_rows, lambda: putting(2, 40, only=0), id="put some rows"
    ),
    pytest.param(bucket_table.spread, lambda: spreading(1), id="spread states"),
    pytest.param(bucket_table.spread, lambda: spreading(2), id="spread rows"),
    pytest.param(bucket_table.find_states, lambda: finding(1), id="find states"),
    pytest.param(bucket_table.find_rows, lambda: finding(2), id="find rows"),
    pytest.param(canonical_rows.sort_members, sorting, id="sort"),
    pytest.param(canonical_rows.least_renaming, renaming_for_itself, id="rename"),
    pytest.param(canonical_rows.least_renaming, renaming_noted, id="rename and note"),
    pytest.param(canonical_rows.unmoved_by, unmoved, id="unmoved"),
    pytest.param(closure.keep_rows, lambda: reducing(rest=True), id="reduce at rest"),
    pytest.param(closure.keep_rows, lambda: reducing(rest=False), id="reduce"),
]


@pytest.mark.parametrize(("kernel", "drawn"), CASES)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_native_code_does_what_the_python_does(kernel, drawn):
    """The same arguments, the same arrays afterwards, the same result."""
    arguments = drawn()
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]

    native, plain = kernel(*arguments), kernel.python(*copies)

    assert native == plain
    for one, other in zip(arguments, copies, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("width", [1, 2])
def test_a_segment_that_is_spread_holds_what_it_held(width):
    """Each state is found where it is looked for, and no entry is lost or made."""
    segments = Segments()
    states = drawn(900, width)
    spill, progress = np.zeros(256, np.int64), np.zeros(2, np.int64)
    put, find = bucket_table.put_rows, bucket_table.find_rows
    kinds: tuple[object, ...] = (states, np.arange(len(states)))
    whose: object = states
    if width == 1:
        put, find = bucket_table.put_states, bucket_table.find_states
        kinds, whose = (BITS, states, len(states)), BITS
    assert put(segments.buckets, segments.slices, *kinds, -1, spill, progress)
    before = entries(segments)

    for g in range(len(FIRST_BITS)):
        old = segments.bits[g]
        segments.grow([b + (k == g) for k, b in enumerate(segments.bits)])
        bucket_table.spread(segments.buckets, segments.first(g), 1 << old)

    slots = np.empty(len(states), np.int64)
    these = (states, len(states), spill, 2 * segments.held, slots)
    find(segments.buckets, segments.slices, whose, *these)
    assert entries(segments) == before == len(states) - progress[bucket_table.SPILLED]
    assert len(np.unique(slots)) == len(states)
    halves = segments.words.view(np.uint32)
    here = slots < 2 * segments.held
    assert np.count_nonzero(halves[slots[here]]) == np.count_nonzero(here)


def entries(segments: Segments) -> int:
    """Count the entries of a table."""
    return int(np.count_nonzero(segments.words.view(np.uint32)))


OPERATIONS = """
@kernel
def of_all(n: int, m: int, found: Row) -> None:
    found[0] = n // m
    found[1] = n % m
    found[2] = (n and m) + 2 * (n or m)
    found[3] = not n < m
    found[4] = -n ^ ~m
    for i in range(5, -3, -2):
        if i == 1:
            continue
        found[5] = 10 * found[5] + i
    while True:
        found[6] += m
        if found[6] > 20 or found[6] < -20:
            break
    found[7] = i
    found[8] = n >> 1
    found[9] = m << 3
    found[10] = (n & m) + 100 * (n | m)
    found[11] = (n <= m) + 2 * (n == m) + 4 * (n > m) + 8 * (n != m) + 16 * (n >= m)
    found[12] = n - m
    found[13] = lowest_bit(n | 64)
    found[14] = same_halves(found, n & 7, 7)
"""


@pytest.mark.parametrize("n", [-7, 0, 6])
@pytest.mark.parametrize("m", [-3, 2, 3])
def test_each_operation_means_what_it_means_in_python(tmp_path, monkeypatch, n, m):
    """Division rounds down, and a loop ends where Python's does."""
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path))
    file = tmp_path / "kernels.py"
    file.write_text(OPERATIONS)
    scratch: dict[str, object] = {"kernel": Kernel, "Row": None}
    scratch |= {"lowest_bit": lowest_bit, "same_halves": same_halves}
    exec(compile(OPERATIONS, str(file), "exec", dont_inherit=True), scratch)
    kernel = scratch["of_all"]
    assert isinstance(kernel, Kernel)
    kernel.python.__annotations__ = {"n": "int", "m": "int", "found": "Row"} | {
        "return": "None"
    }
    native, plain = np.zeros(15, np.int64), np.zeros(15, np.int64)

    kernel(n, m, native)
    kernel.python(n, m, plain)

    assert native.tolist() == plain.tolist()


@pytest.mark.parametrize(
    "body",
    [
        "x = n / 2",
        "x = n if n else 1",
        "x = y",
        "x = len(n)",
        "row = n",
        "row = rows[0]",
        "if n: x = rows[0]\n    else: x = rows[1]",
        "x = row[0, 1]",
        "for x in row: pass",
        "x = other(n)",
        "x, y = n, n",
        "x = 0 < n < 2",
        "for x in range(3):\n        y = np.empty(3, np.int64)",
        "row[0] = rows[0]",
        "rows[0] = n",
    ],
)
def test_what_kernels_have_not_is_refused(body):
    """Nothing is translated to something else in silence."""
    text = f"def f(n: int, row: Row, rows: Rows) -> None:\n    {body}\n"

    with pytest.raises(KernelError, match=r"line 2|line 3"):
        kernel_ir(text)


@pytest.mark.parametrize(
    "rows",
    [np.zeros((3, 2), np.int64)[:, :1], np.zeros((3, 1), np.int32), np.zeros(3, int)],
)
def test_arrays_that_native_code_would_misread_are_refused(rows):
    """Columns of another array, other numbers, another shape."""
    recent = PackedStates(1).recent

    with pytest.raises(TypeError, match="contiguous"):
        recent_filter.sift_one(rows, 3, recent)
