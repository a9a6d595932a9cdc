"""Batches of events are awkward in the way that they say, and shrink to plain ones."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from onceproof.model.errors import UsageError
from onceproof.properties.testing.event_batches import KINDS
from onceproof.properties.testing.strategies import event_batches
from tests.properties.testing.test_strategies import FIXED, simplest

ROWS = st.fixed_dictionaries(
    {
        "id": st.integers(0, 10_000),
        "at": st.integers(0, 9),
        "amount": st.integers(),
        "name": st.sampled_from(["", "a", "b"]),
    }
)
FEW = st.fixed_dictionaries({"id": st.integers(0, 99), "name": st.sampled_from("ab")})


def order(row):
    return row["at"], row["id"]


def is_awkward(batches) -> bool:
    """Say whether a delivery is what its kind says."""
    rows, flat = batches.rows, batches.flat()
    keys = [row["id"] for row in flat]
    partitions = [sum(len(batch[p]) for batch in rows) for p in range(len(rows[0]))]
    if batches.kind == "plain":
        return sorted(flat, key=order) == [*flat] and all(any(b) for b in rows)
    if batches.kind == "out of order":
        return sorted(flat, key=order) != [*flat]
    if batches.kind == "duplicated":
        return len(set(keys)) < len(keys)
    if batches.kind == "late":
        return any(
            order(late) < order(row)
            for early, later in itertools.combinations(rows, 2)
            for row in itertools.chain(*early)
            for late in itertools.chain(*later)
        )
    if batches.kind == "empty":
        return not all(any(batch) for batch in rows) or 0 in partitions
    if batches.kind == "null":
        return any(None in row.values() for row in flat)
    return max(partitions) >= len(flat) - 1 > 2


def test_every_kind_is_drawn_and_is_what_it_says():
    """Numbers stay within their bounds, and keys are unique but for repeated rows."""
    drawn = Counter()

    @settings(FIXED, max_examples=300)
    @given(event_batches(ROWS, key="id", time="at", partitions=3, weights="amount"))
    def judge(batches):
        drawn[batches.kind] += 1
        assert is_awkward(batches)
        assert 1 <= len(batches.rows) <= 4
        assert all(len(batch) == 3 for batch in batches.rows)
        assert batches.count == len(batches.flat()) <= 12
        alike = len(batches.distinct()) == batches.count
        assert alike == (batches.kind != "duplicated")
        assert all(row["id"] is not None and row["amount"] for row in batches.flat())

    judge()

    assert set(drawn) == set(KINDS)


def test_a_repeated_row_is_the_very_same_and_never_earlier():
    """It is delivered again in the batch of the first, or in a later one."""

    @settings(FIXED, max_examples=100)
    @given(event_batches(ROWS, key=["id"], kinds=["duplicated"], weights="amount"))
    def judge(batches):
        first = {batches.key_of(row): row for row in batches.distinct()}
        assert all(first[batches.key_of(row)] == row for row in batches.flat())
        once = sorted(first.values(), key=lambda row: row["amount"])
        found = [
            next(
                n
                for n, batch in enumerate(batches.rows)
                if any(row in p for p in batch)
            )
            for row in once
        ]
        assert found == sorted(found)

    judge()


@pytest.mark.parametrize("kind", KINDS)
def test_a_delivery_shrinks_to_the_fewest_batches_and_rows_of_its_kind(kind):
    """No kind keeps more than it takes to be of that kind."""
    least = {"late": (2, 2), "out of order": (1, 2), "duplicated": (1, 2)}
    least |= {"skewed": (1, 4), "empty": (1, 0)}

    found = simplest(event_batches(FEW, key="id", kinds=[kind]))

    assert (len(found.rows), found.count) == least.get(kind, (1, 1))


@pytest.mark.parametrize(
    ("claim", "batches", "rows"),
    [
        (lambda b: b.count >= 4, 1, 4),
        (lambda b: len(b.rows) >= 3, 3, 3),
        (lambda b: any(row["name"] == "b" for row in b.flat()), 1, 1),
    ],
)
def test_a_delivery_shrinks_to_plain_where_nothing_awkward_matters(
    claim, batches, rows
):
    """Then to the fewest batches, and the fewest rows."""
    found = simplest(event_batches(FEW, key="id"), claim)

    assert (found.kind, len(found.rows), found.count) == ("plain", batches, rows)


def test_sums_cannot_cancel_a_loss_against_a_repetition():
    """Whatever events are counted 0 to 7 times, the sum tells how often each was."""

    @settings(FIXED, max_examples=100)
    @given(event_batches(ROWS, key="id", weights="amount"), st.data())
    def judge(batches, data):
        rows = batches.distinct()
        times = [data.draw(st.integers(0, 7)) for _ in rows]
        total = sum(n * row["amount"] for n, row in zip(times, rows, strict=True))
        assert [total // row["amount"] % 8 for row in rows] == times
        assert float(total) == total < 2**53

    judge()


def test_many_rows_have_weights_of_a_smaller_base_that_are_exact():
    """Thirty rows have a base of 3: a sum still tells none, one and two apart."""
    drawn = event_batches(
        ROWS,
        key="id",
        weights="amount",
        batches=(30, 30),
        most_rows=30,
        kinds=KINDS[:1],
    )

    @settings(FIXED, max_examples=5)
    @given(drawn)
    def judge(batches):
        weights = [row["amount"] for row in batches.flat()]
        assert weights == [3**n for n in range(30)]
        assert 2 * sum(weights) < 2**53

    judge()


def test_a_weight_is_of_the_type_of_its_field():
    """A sink that was given floats is not suddenly given integers."""
    rows = st.fixed_dictionaries({"id": st.integers(), "fare": st.floats()})

    found = simplest(event_batches(rows, key="id", weights="fare"))

    assert [type(row["fare"]) for row in found.flat()] == [float]


def test_rows_with_nothing_but_a_key_are_never_called_null():
    """There is nothing to set to None, so the delivery is plain."""
    rows = st.fixed_dictionaries({"id": st.integers()})

    found = simplest(event_batches(rows, key="id", kinds=["null"]))

    assert found.kind == "plain"


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"key": ()}, "names no field"),
        ({"batches": (0, 2)}, "let there be one of each or more"),
        ({"batches": (1, 13)}, "no more batches than rows"),
        ({"partitions": 0}, "let there be one"),
        ({"kinds": ["dupplicated"]}, "did you mean 'duplicated'"),
        ({"kinds": ["late"], "batches": (1, 1)}, "'late' takes 2 rows, 2 batches"),
        ({"kinds": ["skewed"], "partitions": 1}, "'skewed' takes .* 2 partitions"),
        ({"most_rows": 40, "weights": "amount"}, "choose 33 or fewer"),
    ],
)
def test_a_delivery_that_cannot_be_is_refused(arguments, answer):
    """Up front, with the fix."""
    with pytest.raises(UsageError, match=answer):
        event_batches(ROWS, **{"key": "id", **arguments})


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"key": "ident"}, "no field 'ident'; it has amount, at, id, name"),
        ({"time": "when"}, "no field 'when'"),
        ({"weights": "sum"}, "no field 'sum'"),
        ({"weights": "name"}, "'name' is no number in a row, but ''"),
    ],
)
def test_rows_without_the_fields_that_are_named_are_refused(arguments, answer):
    """The answer says which fields they have."""

    @settings(FIXED, phases=[Phase.generate], max_examples=20)
    @given(event_batches(ROWS, **{"key": "id", **arguments}))
    def draw(batches):
        pass

    with pytest.raises(UsageError, match=answer):
        draw()


def test_kinds_that_the_numbers_do_not_allow_are_left_out_unless_asked_for():
    """One row in one batch and one partition can be plain, null or empty."""
    drawn = set()

    @settings(FIXED, max_examples=100)
    @given(event_batches(ROWS, key="id", batches=(1, 1), partitions=1, most_rows=1))
    def judge(batches):
        assert batches.kind == "empty" or is_awkward(batches)
        drawn.add(batches.kind)

    judge()

    assert drawn == {"plain", "empty", "null"}
