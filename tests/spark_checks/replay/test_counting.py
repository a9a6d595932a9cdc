"""Rows that are counted in memory, and those that Spark counts, are counted alike."""

from __future__ import annotations

import random
from types import SimpleNamespace

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
"""Hash, batch and words; the first row belongs to two batches."""
INTERIM = [(5, "e"), (6, "f"), (3, "c")]
"""Hash and words; the last one is also seen at the end."""
STRAYS = [(7, "g"), (8, "h")]
AMBIGUOUS = [(1, "A"), (7, "G"), (5, "z")]
"""Rows of the same hash as others, in other words."""
WITH_UNIT = f"{ROW} bigint, {UNIT} int, {TEXT} string"
SEEN = [(row, text) for row, _, text in EXPECTED] + INTERIM + STRAYS + AMBIGUOUS


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
    expected = spark.createDataFrame(EXPECTED, WITH_UNIT)
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


def test_the_first_of_several_texts_is_the_example_of_a_row(spark):
    """In the order of texts, whichever was seen first."""
    runs = [[[(1, "A"), (7, "g"), (7, "G")]], [[(7, "G"), (7, "g"), (1, "b")]]]

    few, _ = counted(spark, runs, interim=False)
    many, _ = counted(spark, runs, interim=False, kept_by_spark=lambda _: True)

    assert few == many
    assert any(repr(CountedRows(None, False, (2,), 1, "G")) in run for run in few)
    assert repr(CountedRows(1, False, (1,), 1, "A")) in few[0]
    assert repr(CountedRows(1, False, (1,), 1, "a")) in few[1]


def test_interim_results_alone_may_be_too_many_for_memory(spark, monkeypatch):
    """What is seen at the end may be few rows all the same."""
    expected = spark.createDataFrame(EXPECTED[:2], WITH_UNIT)
    monkeypatch.setattr(looks, "MOST_IN_MEMORY", 2)
    counting = Counting(expected, spark.createDataFrame(INTERIM, COLUMNS))

    [found] = counting.of([[looked(spark, [(5, "e")])]])

    assert CountedRows(None, True, (1,), 1, "e") in found
    assert CountedRows(1, False, (0,), 1, "a") in found


def test_many_rows_stay_as_they_were(spark, monkeypatch, tmp_path):
    """Whatever becomes of the table that they were read from."""
    monkeypatch.setattr(looks, "MOST_IN_MEMORY", 0)
    table = str(tmp_path / "table")
    spark.createDataFrame([(1, "a")], COLUMNS).write.parquet(table)

    seen = look_at(spark.read.parquet(table))
    spark.createDataFrame([(2, "b")], COLUMNS).write.mode("overwrite").parquet(table)

    assert [tuple(row) for row in seen.rows.collect()] == [(1, "a")]


@pytest.mark.parametrize(("folder", "kept"), [(None, "here"), ("folder", "there")])
def test_many_rows_outlive_the_executors_of_a_cluster(folder, kept):
    """A session of a cluster has a folder for them."""
    context = SimpleNamespace(getCheckpointDir=lambda: folder)
    frame = SimpleNamespace(
        sparkSession=SimpleNamespace(sparkContext=context),
        localCheckpoint=lambda: "here",
        checkpoint=lambda: "there",
    )

    assert looks.kept_by_spark(frame) == kept


def test_a_source_sees_no_limit(spark, monkeypatch):
    """One that believes its own statistics would leave out rows."""
    nobody = spark.range(2).where("id > 5").toDF("other")
    rows = spark.range(20_000).crossJoin(nobody)
    rows = rows.selectExpr(f"id AS {ROW}", f"CAST(other AS STRING) AS {TEXT}")
    kind, plans = type(rows), []
    plain = kind.collect

    def collect(frame):
        plans.append(frame._jdf.queryExecution().optimizedPlan().toString())
        return plain(frame)

    monkeypatch.setattr(kind, "collect", collect)
    assert look_at(rows) == NOTHING

    [plan] = plans
    above, below = plan.split("monotonically_increasing_id", 1)
    assert "Limit" in above
    assert "Join" in below
    assert "Limit" not in below


@pytest.mark.parametrize("most", [0, 100])
def test_a_digest_differs_between_looks(spark, monkeypatch, most):
    """Rows of other hashes, and a row more or less."""
    monkeypatch.setattr(looks, "MOST_IN_MEMORY", most)

    found = [
        looked(spark, rows).size_and_digest()
        for rows in (
            [(1, "a"), (-4, "d")],
            [(1, "a"), (2, "b")],
            [(1, "a")] * 3,
            [(1, "a"), (2, "b"), (2, "b")],
        )
    ]

    assert found == [(2, 1 ^ -4), (2, 1 ^ 2), (3, 1), (3, 1)]
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
    spark.conf.set(name, "3")

    looked(spark, [(1, "a")])

    assert spark.conf.get(name) == "3"
    spark.conf.set(name, before)
