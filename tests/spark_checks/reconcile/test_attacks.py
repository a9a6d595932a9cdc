"""What could make tables look alike that are not: refused, undecided, or found."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from onceproof.model.errors import UsageError
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.reconcile.reconciliation import judge
from onceproof.spark_checks.reconcile.request import Pair, ReconcileRequest
from onceproof.spark_checks.reconcile.tables import TablePlace, place_of

pytestmark = [pytest.mark.ci, pytest.mark.spark]
ID = (Pair("id", "id"),)
HELD, REFUTED, UNDECIDED = Verdict.HELD, Verdict.REFUTED, Verdict.UNDECIDED


@pytest.fixture(scope="module")
def spark(pool):
    with pool.session(attempts=2, partitions=2) as session:
        yield session.spark


def asked(**more):
    return ReconcileRequest(**{"key": ID, **more})


def of(found):
    return [*found.verdicts.values()]


@pytest.mark.parametrize(
    "view",
    [
        "SELECT * FROM range(9) WHERE rand() < 0.9",
        "SELECT * FROM range(9) WHERE id IN (SELECT 1 WHERE rand() < .9)",
        "SELECT monotonically_increasing_id() AS id FROM range(9)",
        "SELECT * FROM range(90) LIMIT 9",
        "SELECT * FROM (SELECT * FROM range(90)) TABLESAMPLE (10 PERCENT)",
    ],
)
@pytest.mark.parametrize("side", ["source", "sink"])
def test_rows_that_chance_decides_decide_nothing(spark, view, side):
    """Another reading may give others."""
    tables = {"source": spark.range(9), "sink": spark.range(9), side: spark.sql(view)}

    found = judge(tables["source"], tables["sink"], asked())

    assert of(found) == [UNDECIDED] * 3
    assert "another reading may give other rows" in found.problems[0]


@pytest.mark.parametrize(
    "view",
    [
        "SELECT id, rand() AS r FROM range(9)",
        "SELECT id, current_timestamp() AS t FROM range(9)",
        "SELECT * FROM range(20) ORDER BY id LIMIT 9",
        "SELECT 'rand' AS `rand`, id FROM range(9)",
    ],
)
def test_chance_that_decides_no_row_is_no_matter(spark, view):
    """A column that nobody reads may hold anything."""
    assert of(judge(spark.range(9), spark.sql(view), asked())) == [HELD] * 3


AT = dt.datetime(2026, 1, 1, 12)  # noqa: DTZ001 - one session has no zone
PLUS = dt.timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("decimal(20,2)", Decimal("1.10"), Decimal("1.11")),
        ("timestamp", AT, AT + PLUS),
        ("timestamp_ntz", AT, AT + PLUS),
        ("date", AT.date(), AT.date() + dt.timedelta(1)),
        ("binary", b"\xff\x00", b"\xff\x01"),
        ("string", "a", "A"),
        ("string", "a", "a "),
        ("string", "\u00e9", "e\u0301"),
        ("string", "", "null"),
        ("boolean", True, False),
    ],
)
def test_keys_that_differ_little_are_two_keys(spark, kind, one, other):
    """And an example shows which of them is missing."""
    source = spark.createDataFrame([(one,), (other,)], f"id {kind}")

    whole = judge(source, source, asked())
    found = judge(source, spark.createDataFrame([(one,)], f"id {kind}"), asked())
    twice = judge(source, source.union(source.limit(1)), asked())

    assert of(whole) == [HELD] * 3
    assert (found.total.once, found.total.missing) == (1, 1)
    assert len(found.counted.examples["missing"]) == 1
    assert twice.total.duplicated == 1


def test_bytes_that_are_no_letters_are_shown_in_full(spark):
    """Two keys would else be shown as one."""
    source = spark.createDataFrame([(b"\xff\x00",), (b"\xff\x01",)], "id binary")

    found = judge(source, source.where("false"), asked())

    shown = [event["id"] for event in found.counted.examples["missing"]]
    assert shown == ["FF00", "FF01"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("id int", "id string"),
        ("id decimal(10,2)", "id decimal(12,2)"),
        ("id timestamp", "id timestamp_ntz"),
        ("id date", "id timestamp"),
        ("id binary", "id string"),
    ],
)
def test_keys_of_two_types_are_refused(spark, one, other):
    """Spark would turn one into the other in silence."""
    source, sink = (spark.createDataFrame([], schema) for schema in (one, other))

    with pytest.raises(UsageError, match="in the source and"):
        judge(source, sink, asked())


@pytest.mark.parametrize(
    ("kind", "until"),
    [
        ("timestamp", "2026-01-01 12:00:00"),
        ("timestamp", "2026-01-01T13:00:00+01:00"),
        ("timestamp_ntz", "2026-01-01 12:00:00"),
    ],
)
def test_an_event_at_exactly_until_is_owed_and_a_later_one_is_not(spark, kind, until):
    """A microsecond decides."""
    source = spark.createDataFrame([(1, AT), (2, AT + PLUS)], f"id int, at {kind}")

    found = judge(
        source, source.where("id = 0"), asked(time=Pair("at", "at"), until=until)
    )

    assert (found.total.owed, found.total.missing) == (1, 1)
    assert found.counted.examples["missing"] == ({"id": "1"},)


@pytest.mark.parametrize("kind", ["timestamp_ntz", "date"])
def test_a_zone_that_spark_would_leave_out_is_refused(spark, kind):
    """Two hours of events would else be owed, or not, unseen."""
    source = spark.createDataFrame([(1, AT)], "id int, at timestamp_ntz")
    source = source.selectExpr("id", f"cast(at as {kind}) AS at")
    request = asked(time=Pair("at", "at"), until="2026-01-01T00:00:00+02:00")

    with pytest.raises(UsageError, match=f"is no {kind} without a zone"):
        judge(source, source, request)


INTERNAL = ("first", "by", "owed", "content", "rows", "visible", "number", "k0", "v0")


@pytest.mark.grid
@pytest.mark.parametrize("name", [*INTERNAL, "sources", "events", "bucket", "alike"])
def test_a_column_may_be_called_as_ours_are(spark, name):
    """As a key, as a group, as a number, or as none of these."""
    other = f"v0 int, `{name}` int" if name != "v0" else "v0 int"
    table = spark.createDataFrame(
        [(n,) * (1 + other.count(" int")) for n in range(4)], f"id int, {other}"
    )
    request = asked(
        key=(Pair(f"`{name}`", f"`{name}`"), *ID),
        by=f"`{name}`",
        sums=(Pair(f"`{name}`", f"`{name}`"),),
    )

    whole = judge(table, table, request)
    found = judge(table, table.where("id <> 3"), request)

    assert of(whole) == [HELD] * 4
    assert [one.by for one in found.groups if one.wrong] == ["3"]
    assert found.total.missing == 1


def test_a_name_of_ours_that_no_table_has_is_refused(spark):
    """Spark would read it as the column that we add."""
    for name in (*INTERNAL, "rows"):
        for more in ({"key": (Pair(name, name),)}, {"by": name}):
            with pytest.raises(UsageError, match=name):
                judge(spark.range(3), spark.range(3), asked(**more))


@pytest.mark.parametrize("by", ["explode(array())", "explode(array(1, 2))", "rand(1)"])
def test_a_group_that_adds_or_drops_rows_is_refused(spark, by):
    """Lost and repeated events would be counted in what is left."""
    with pytest.raises(UsageError):
        judge(spark.range(3), spark.range(3), asked(by=by))


def test_a_group_of_another_type_in_the_sink_is_that_of_the_source(spark):
    """An event belongs to one group, whatever the sink calls it."""
    source = spark.sql("SELECT id, date'2026-01-01' AS day FROM range(3)")
    sink = spark.sql("SELECT id, timestamp'2026-01-01 05:00:00' AS day FROM range(1)")

    found = judge(source, sink, asked(by="day"))

    assert [(g.by, g.once, g.missing) for g in found.groups] == [("2026-01-01", 1, 2)]


def test_an_empty_partition_and_a_null_group_lose_nothing(spark):
    """Rows of one partition in four, and of no day."""
    source = spark.createDataFrame([(1, None), (2, 5)], "id int, day int")

    found = judge(source.repartition(4), source.where("id = 2"), asked(by="day"))

    assert [(g.by, g.missing) for g in found.groups] == [(None, 1), ("5", 0)]


@pytest.mark.parametrize("value", ["true", "TRUE", "True"])
def test_a_setting_counts_in_whatever_letters(spark, value):
    """Spark reads all of them."""
    name = "spark.sql.files.ignoreMissingFiles"
    spark.conf.set(name, value)
    try:
        found = judge(spark.range(3), spark.range(3), asked())
    finally:
        spark.conf.unset(name)

    assert of(found) == [UNDECIDED] * 3


@pytest.fixture
def two_files(spark, tmp_path):
    spark.range(3).write.parquet(str(tmp_path / "a"))
    spark.range(2).write.parquet(str(tmp_path / "b"))
    return tmp_path


def place(name, path, query):
    return TablePlace(name, "parquet", str(path), {}, query)


def test_the_query_of_the_source_cannot_read_the_sink(spark, two_files):
    """It would be compared with itself."""
    sink = place("sink", two_files / "b", "SELECT * FROM sink")
    source = place("source", two_files / "a", "SELECT * FROM sink")

    sink.read(spark)
    with pytest.raises(UsageError, match=r"the source .* cannot be read"):
        source.read(spark)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM source;",
        "WITH one AS (SELECT * FROM source) SELECT * FROM one -- all",
        "FROM source SELECT id",
        "SELECT a.id FROM source a JOIN source b ON a.id = b.id",
    ],
)
def test_a_query_is_written_as_spark_reads_it(spark, two_files, query):
    """With its own names, and an end of its own."""
    source = place("source", two_files / "a", query)

    assert sorted(row.id for row in source.read(spark).collect()) == [0, 1, 2]


def test_the_same_table_is_known_as_the_same():
    """Whatever is in it, it would agree with itself."""
    one, same, other = (
        place_of(name, path, {}, "")
        for name, path in (("source", "a.json"), ("sink", "a.json"), ("sink", "b.json"))
    )

    assert one.same_as(same)
    assert not one.same_as(other)
