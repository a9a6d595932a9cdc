"""Rows that are made for a schema: apart by their key, and alike in what repeats."""

from __future__ import annotations

import itertools

import pytest
from pyspark.sql.types import (
    BooleanType,
    DateType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inputs.row_generator import rows_of

TYPES = {
    "id": StringType(),
    "amount": LongType(),
    "customer": StringType(),
    "day": DateType(),
    "at": TimestampType(),
    "paid": BooleanType(),
}


def made(*names, key=(), count=8):
    schema = StructType([StructField(name, TYPES[name]) for name in names])
    return [
        dict(zip(names, row, strict=True)) for row in rows_of(schema, count, tuple(key))
    ]


def column(rows, name):
    return [row[name] for row in rows]


def test_customers_and_days_come_again_in_each_batch_and_task():
    """A sink that deletes by day meets rows of other batches, as it will in use."""
    rows = made(*TYPES, key=("id",))

    for name in ("customer", "day"):
        values = set(column(rows, name))
        assert len(values) == 3
        assert set(column(rows[:4], name)) == set(column(rows[4:], name)) == values
    for name in ("id", "amount", "at"):
        assert len(set(column(rows, name))) == 8


def test_time_goes_on():
    """So that no watermark takes a row for a late one."""
    rows = made("id", "at", key=("id",))

    assert column(rows, "at") == sorted(column(rows, "at"))


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (("customer", "day"), ()),
        (("customer", "paid"), ()),
        (("customer", "amount"), ()),
        (("customer", "day"), ("customer", "day")),
    ],
)
def test_no_two_rows_are_alike(names, key):
    """Also where the schema has no key, or texts and dates alone."""
    rows = made(*names, key=key)

    assert len({tuple(row.values()) for row in rows}) == 8


def test_sums_tell_how_often_each_row_is_in_them():
    """Up to seven times each, for the rows of a usual replay."""
    weights = column(made("id", "amount", key=("id",)), "amount")

    assert [b // a for a, b in itertools.pairwise(weights)] == [8] * 7


def test_a_key_without_room_is_refused():
    """Of a flag there are two."""
    with pytest.raises(UsageError, match="no room for 8 different events"):
        made("paid", "amount", key=("paid",))
