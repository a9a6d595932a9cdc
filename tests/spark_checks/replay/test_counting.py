"""Rows that are counted in memory, and those that Spark counts, are counted alike."""

from __future__ import annotations

import random

import pytest

from onceproof.spark_checks.replay import looks
from onceproof.spark_checks.replay.counting import UNIT, CountedRows, Counting
from onceproof.spark_checks.replay.looks import (
    COLUMNS,
    NOTHING,
    ROW,
    TEXT,
    FewRows,
    ManyRows,
    look_at,
    together,
)

pytestmark = pytest.mark.spark

EXPECTED = [(1, 0, "a"), (1, 1, "a"), (2, 0, "b"), (3, 1, "c"), (-4, 1, "d")]
"""Hash, batch and words; the first row is owed by two batches."""
INTERIM = [(5, "e"), (6, "f"), (3, "c")]
"""Hash and words; the last one is also seen at the end."""
STRAYS = [(7, "g"), (8, "h")]
SEEN = [(row, text) for row, _, text in EXPECTED] + INTERIM + STRAYS


@pytest.fixture(scope="module")
def spark(pool):
    """Return a session."""
    with pool.session(attempts=2, partitions=2) as session:
        yield session.spark


def drawn(seed):
    """Draw what is seen in six runs of up to three moments; None where nobody looks."""
    draw = random.Random(seed)
    return [
        [
            None if draw.random() < 0.2 else draw.choices(SEEN, k=draw.randrange(9))
            for _ in range(draw.randint(1, 3))
        ]
        for _ in range(6)
    ]


def counted(spark, runs, *, interim=True, kept_by_spark=lambda run: False):
    """Count the runs; ``kept_by_spark`` says whose looks are not in memory."""
    schema = f"{ROW} bigint, {UNIT} int, {TEXT} string"
    expected = spark.createDataFrame(EXPECTED, schema)
    between = spark.createDataFrame(INTERIM, COLUMNS) if interim else None
    counting = Counting(expected, between)
    with pytest.MonkeyPatch.context() as patch:
        seen = []
        for number, run in enumerate(runs):
            most = 0 if kept_by_spark(number) else len(SEEN) * 9
            patch.setattr(looks, "MOST_IN_MEMORY", most)
            seen.append([looked(spark, rows) for rows in run])
        return [sorted(map(repr, of_run)) for of_run in counting.of(seen)], seen


def looked(spark, rows):
    if rows is None:
        return None
    return look_at(spark.createDataFrame(rows, COLUMNS).repartition(2))


def kinds(seen):
    return {type(look) for run in seen for look in run if look}


@pytest.mark.parametrize("interim", [True, False])
def test_both_ways_count_alike(spark, interim):
    """Whatever is seen: twice, by nobody, too early, or from nowhere."""
    runs = drawn(seed=11)

    few, in_memory = counted(spark, runs, interim=interim)
    many, by_spark = counted(spark, runs, interim=interim, kept_by_spark=bool)

    assert few == many
    assert kinds(in_memory) == {FewRows}
    assert kinds(by_spark) == {FewRows, ManyRows}


def test_the_count_of_a_run_in_memory(spark):
    """Each kind of row, by hand."""
    runs = [[[(1, "a"), (1, "a"), (5, "e")], None, [(2, "b"), (3, "c"), (7, "g")]]]

    [found], _ = counted(spark, runs)

    assert found == sorted(
        map(
            repr,
            [
                CountedRows(1, False, (2, 0, 0), 1, "a"),
                CountedRows(0, False, (0, 0, 1), 1, "b"),
                CountedRows(1, True, (0, 0, 1), 1, "c"),
                CountedRows(1, False, (0, 0, 0), 1, "d"),
                CountedRows(None, True, (1, 0, 0), 1, "e"),
                CountedRows(None, True, (0, 0, 0), 1, "f"),
                CountedRows(None, False, (0, 0, 1), 1, "g"),
            ],
        )
    )


def test_what_should_be_seen_may_be_too_much_for_memory(spark, monkeypatch):
    """Then Spark counts, also where a look shows nothing."""
    runs = [[[(1, "a")], []], [[(3, "c"), (8, "h"), (8, "h")]]]
    few, _ = counted(spark, runs)
    monkeypatch.setattr(looks, "MOST_IN_MEMORY", len(EXPECTED) - 1)

    many, seen = counted(spark, runs)

    assert few == many
    assert kinds(seen) == {FewRows}


@pytest.mark.parametrize("most", [0, 100])
def test_a_digest_tells_looks_apart(spark, monkeypatch, most):
    """Rows of other hashes, and a row more or less."""
    monkeypatch.setattr(looks, "MOST_IN_MEMORY", most)

    found = [
        looked(spark, rows).size_and_digest()
        for rows in ([(1, "a"), (-4, "d")], [(1, "a"), (2, "b")], [(1, "a")] * 3)
    ]

    assert found == [(2, 1 ^ -4), (2, 1 ^ 2), (3, 1)]
    assert NOTHING.size_and_digest() == (0, 0)


def test_looks_of_several_readers_are_added(spark, monkeypatch):
    """Also if only one of them is kept by Spark."""
    few = looked(spark, [(1, "a"), (2, "b")])
    monkeypatch.setattr(looks, "MOST_IN_MEMORY", 0)
    many = looked(spark, [(1, "a")])

    in_memory, by_spark = together([few, few], spark), together([few, many], spark)

    assert in_memory == FewRows(few.times + few.times)
    assert sorted(map(tuple, by_spark.rows.collect())) == [(1, "a")] * 2 + [(2, "b")]


def test_a_limit_is_for_the_look_alone(spark):
    """What readers run afterwards is computed as it was before."""
    name = "spark.sql.limit.initialNumPartitions"
    before = spark.conf.get(name)

    looked(spark, [(1, "a")])

    assert spark.conf.get(name) == before
