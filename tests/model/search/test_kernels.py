"""Kernels mean in native code what they mean in Python."""

from __future__ import annotations

import numpy as np
import pytest

from onceproof.model.search.compiling.kernel_code import kernel_ir
from onceproof.model.search.compiling.kernel_values import KernelError
from onceproof.model.search.compiling.kernels import Kernel
from onceproof.model.search.reduction import closure
from onceproof.model.search.states import (
    canonical_rows,
    compact_table,
    hash_table,
    row_table,
)
from onceproof.model.search.states.packed_states import PackedStates

RANDOM = np.random.default_rng(5)
FIRST_SHIFT = 64 - 12
# Of one word, a hash gives a bucket.
BUCKET_SHIFT = FIRST_SHIFT + hash_table.BUCKET_BITS


def first_shift(width: int) -> int:
    """Give by how much hashes are shifted in a table that holds few states."""
    return BUCKET_SHIFT if width == 1 else FIRST_SHIFT


def words(*shape: int, below: int = 2**63 - 1) -> np.ndarray:
    """Draw words; a packed state is never negative."""
    return RANDOM.integers(0, below, shape, np.int64)


def empty(rows: int, width: int) -> np.ndarray:
    """Give room for states without one in it."""
    return np.full((rows, width), -1, np.int64)


def holding(number: int, width: int) -> PackedStates:
    """Give a table with some states in it."""
    held = PackedStates(width)
    held.add(words(number, width))
    return held


def inserting(width: int) -> tuple[object, ...]:
    """Add states, many of them twice, to a table."""
    rows = words(700, width, below=7 if width == 3 else 500)
    held = PackedStates(width)
    return held._table, first_shift(width), rows, 600, empty(700, width), 0


def sifting(width: int) -> tuple[object, ...]:
    """Leave out states that were met a moment ago."""
    rows = words(700, width, below=3 if width == 3 else 500)
    return rows, 600, PackedStates(width).recent


def spreading(room: int, *, reverse: bool = False) -> tuple[object, ...]:
    """Spread a table over one of four times its size, with room for some to wait.

    In a table that is reversed many states are far from where they should be.
    """
    table = np.zeros(4 << 12, np.int64)
    buckets = holding(3000, 1)._table.reshape(-1, hash_table.BUCKET)
    table[: 1 << 12] = buckets[:: -1 if reverse else 1].ravel()
    return table, 1 << 12, BUCKET_SHIFT - 2, np.zeros(room, np.int64)


def filling(width: int) -> tuple[object, ...]:
    """Fill a table with the numbers of states."""
    return words(2 << 12), first_shift(width) - 1, words(1500, width), 1490


def finding(width: int) -> tuple[object, ...]:
    """Look states up, half of which are there."""
    held = holding(300, width)
    rows = np.concatenate([held.rows[: held.count], words(300, width)])
    wide = () if width == 1 else (held.rows,)
    return held._table, first_shift(width), *wide, rows, 600, np.zeros(600, np.int64)


BITS, LEFT = 14, 9
"""Of states in a compact table of 32 buckets, which are too few for them."""


def compact() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give a compact table with room for few states, and room for others."""
    table = np.zeros(compact_table.BUCKET_WORDS << (BITS - LEFT), np.int64)
    return table, np.zeros(16, np.int64), np.zeros(2, np.int64)


def inserting_compact(number: int) -> tuple[object, ...]:
    """Add states, many of them twice; of too many it adds what there is room for."""
    table, spill, progress = compact()
    rows = words(number, 1, below=1 << BITS)
    rows[1::3] = rows[::3][: len(rows[1::3])]
    states = empty(number, 1)
    return table, BITS, LEFT, rows, number, states, 0, spill, progress


def filled() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give a compact table, what it has no room for, and its states."""
    table, spill, progress = compact()
    states = np.unique(words(300, 1, below=1 << BITS)).reshape(-1, 1)
    these = (table, BITS, LEFT, states, len(states), spill, progress)
    assert compact_table.fill_compact(*these)
    return table, spill, states


def spreading_compact() -> tuple[object, ...]:
    """Spread a compact table over one of twice its size."""
    table, _, _ = filled()
    return np.concatenate([table, np.zeros(len(table), np.int64)]), 256, LEFT - 1


def filling_compact(number: int) -> tuple[object, ...]:
    """Put states into a compact table; not all of too many."""
    table, spill, progress = compact()
    states = np.unique(words(number, 1, below=1 << BITS)).reshape(-1, 1)
    return table, BITS, LEFT, states, len(states), spill, progress


def finding_compact() -> tuple[object, ...]:
    """Look for states that are there, and for others."""
    table, spill, states = filled()
    rows = np.concatenate([states, words(200, 1, below=1 << BITS)])
    return table, BITS, LEFT, rows, len(rows), spill, np.zeros(len(rows), np.int64)


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
    pytest.param(hash_table.insert_one, lambda: inserting(1), id="insert one"),
    pytest.param(row_table.insert_rows, lambda: inserting(3), id="insert many"),
    pytest.param(hash_table.sift_one, lambda: sifting(1), id="sift one"),
    pytest.param(row_table.sift_rows, lambda: sifting(3), id="sift many"),
    pytest.param(hash_table.spread_one, lambda: spreading(9000), id="spread"),
    pytest.param(hash_table.spread_one, lambda: spreading(64), id="spread far"),
    pytest.param(
        hash_table.spread_one, lambda: spreading(64, reverse=True), id="no room"
    ),
    pytest.param(hash_table.fill_one, lambda: filling(1), id="fill one"),
    pytest.param(row_table.fill, lambda: filling(3), id="fill many"),
    pytest.param(hash_table.find_one, lambda: finding(1), id="find one"),
    pytest.param(row_table.find_rows, lambda: finding(2), id="find many"),
    pytest.param(
        compact_table.insert_compact, lambda: inserting_compact(300), id="compact"
    ),
    pytest.param(
        compact_table.insert_compact, lambda: inserting_compact(2000), id="too many"
    ),
    pytest.param(compact_table.spread_compact, spreading_compact, id="spread compact"),
    pytest.param(
        compact_table.fill_compact, lambda: filling_compact(300), id="fill compact"
    ),
    pytest.param(
        compact_table.fill_compact, lambda: filling_compact(2000), id="fill too many"
    ),
    pytest.param(compact_table.find_compact, finding_compact, id="find compact"),
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


@pytest.mark.parametrize("room", [9000, 64])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_table_that_is_spread_holds_what_it_held(room, reverse):
    """Each state is found where a search for it looks, and nothing else is there."""
    table, before, shift, late = spreading(room, reverse=reverse)
    states = ~table[table != hash_table.EMPTY].reshape(-1, 1)

    enough = hash_table.spread_one(table, before, shift, late)
    assert enough == (room == 9000 or not reverse)
    if not enough:
        hash_table.fill_one(table, shift, states, len(states))

    slots = np.empty(len(states), np.int64)
    hash_table.find_one(table, shift, states, len(states), slots)
    assert np.array_equal(~table[slots], states[:, 0])
    assert np.count_nonzero(table) == len(states) == 3000


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
"""


@pytest.mark.parametrize("n", [-7, 0, 6])
@pytest.mark.parametrize("m", [-3, 2, 3])
def test_each_operation_means_what_it_means_in_python(tmp_path, monkeypatch, n, m):
    """Division rounds down, and a loop ends where Python's does."""
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path))
    file = tmp_path / "kernels.py"
    file.write_text(OPERATIONS)
    scratch: dict[str, object] = {"kernel": Kernel, "Row": None}
    exec(compile(OPERATIONS, str(file), "exec", dont_inherit=True), scratch)
    kernel = scratch["of_all"]
    assert isinstance(kernel, Kernel)
    kernel.python.__annotations__ = {"n": "int", "m": "int", "found": "Row"} | {
        "return": "None"
    }
    native, plain = np.zeros(13, np.int64), np.zeros(13, np.int64)

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
    table, slots = words(8), np.zeros(3, np.int64)

    with pytest.raises(TypeError, match="contiguous"):
        hash_table.find_one(table, 61, rows, 3, slots)
