"""Tables of Spark's, judged: the counts are those of plain Python."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal

import pytest

from onceproof.model.errors import UsageError
from onceproof.properties.guarantees import AT_LEAST_ONCE, AT_MOST_ONCE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.reconcile.reconciliation import SUMS_AGREE, judge, reconcile
from onceproof.spark_checks.reconcile.request import Pair, ReconcileRequest
from onceproof.spark_checks.reconcile.tables import place_of

pytestmark = pytest.mark.spark
ROW = "id long, day int, amount decimal(9,2)"
ID, AMOUNT = (Pair("id", "id"),), (Pair("amount", "amount"),)
DAY = Pair("day", "day")
HELD, REFUTED = Verdict.HELD, Verdict.REFUTED
UNDECIDED, VACUOUS = Verdict.UNDECIDED, Verdict.VACUOUS


@pytest.fixture(scope="module")
def spark(pool):
    with pool.session(attempts=2, partitions=2) as session:
        yield session.spark


@pytest.fixture
def judged(spark):
    def ask(source, sink, schema=ROW, sink_schema="", **more):
        tables = (
            spark.createDataFrame([tuple(row) for row in source], schema),
            spark.createDataFrame([tuple(row) for row in sink], sink_schema or schema),
        )
        return judge(*tables, ReconcileRequest(**{"key": ID, **more}))

    return ask


LOWER = "collate(string(id), 'UTF8_LCASE')"


def rows(*ids, day=1, amount="1.00"):
    return [(i, day, Decimal(amount)) for i in ids]


def of(found):
    return list(found.verdicts.values())


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_plain_python(judged, seed):
    """Of random tables, with late events, strays and changed amounts, by day."""
    draw = random.Random(seed)
    source = [(i, draw.randrange(4), Decimal(draw.randrange(99))) for i in range(60)]
    sink = [r for r in source for _ in range(draw.choice([0, 1, 1, 1, 2, 3]))]
    sink = [(i, d, a + draw.choice([0, 0, 0, 1])) for i, d, a in sink]
    sink += [(i, draw.randrange(4), Decimal(5)) for i in range(100, 103)]
    seen, days = Counter(i for i, _, _ in sink), {i: d for i, d, _ in source}

    found = judged(source, sink, time=DAY, until="2", by="day", sums=AMOUNT)

    owed = {i for i, d in days.items() if d <= 2}
    for day, one in [(None, found.total), *((int(g.by), g) for g in found.groups)]:
        mine = {i for i, d in days.items() if day in {None, d}}
        assert one.events == len(mine)
        assert one.owed == len(mine & owed)
        assert one.once == sum(seen[i] == 1 for i in mine)
        assert one.missing == sum(not seen[i] for i in mine & owed)
        assert one.duplicated == sum(seen[i] > 1 for i in mine)
        assert one.unexplained == sum(
            i not in days and d <= 2 and day in {None, d} for i, d, _ in sink
        )
        theirs = sum(
            a
            for i, d, a in sink
            if day in {None, d} and (i in owed or (i not in days and d <= 2))
        )
        ours = sum(a for i, d, a in source if i in mine & owed)
        assert [(a or 0, b or 0) for a, b in one.sums] == [(ours, theirs)]
    assert len(found.groups) == len(set(days.values()) | {d for _, d, _ in sink})
    assert of(found) == [REFUTED] * 4
    for fault, wrong in {
        "missing": lambda i: i in owed and not seen[i],
        "duplicated": lambda i: i in days and seen[i] > 1,
    }.items():
        keys = [int(event["id"]) for event in found.counted.examples[fault]]
        assert keys
        assert all(map(wrong, keys))


@pytest.mark.parametrize(
    ("sink", "verdicts", "status"),
    [
        (rows(1, 2, 3), [HELD, HELD, HELD], 0),
        (rows(1, 2, 3, 3), [REFUTED, HELD, REFUTED], 1),
        (rows(1, 2), [HELD, REFUTED, REFUTED], 1),
        (rows(1, 2, 3, 9), [REFUTED, HELD, REFUTED], 1),
        (rows(), [VACUOUS, REFUTED, REFUTED], 1),
    ],
)
def test_each_fault_breaks_its_guarantee(judged, sink, verdicts, status):
    """They are the properties that judge models and replays."""
    found = judged(rows(1, 2, 3), sink)

    assert of(found) == verdicts
    assert found.status == status


def test_an_empty_source_decides_nothing(judged):
    """Nothing was owed, so that nothing was tested."""
    found = judged(rows(), rows())

    assert of(found) == [VACUOUS] * 3
    assert found.status == 2


@pytest.mark.parametrize(
    ("sink", "verdicts"),
    [
        (rows(1), [HELD, HELD, HELD]),
        (rows(1, 2), [HELD, HELD, HELD]),
        (rows(1, 2, 2), [REFUTED, HELD, REFUTED]),
        (rows(2), [HELD, REFUTED, REFUTED]),
    ],
)
def test_a_later_event_may_be_there_or_not_but_not_twice(judged, sink, verdicts):
    """Event 2 is of day 5, and days up to 4 are owed."""
    source = [*rows(1), *rows(2, day=5)]

    assert of(judged(source, sink, time=DAY, until="4")) == verdicts


def test_an_event_without_a_time_is_owed(judged):
    """It would else be lost unseen."""
    found = judged(rows(1, day=None), rows(), time=DAY, until="4")

    assert found.total.missing == 1


@pytest.mark.parametrize(
    ("source", "more", "words"),
    [
        (rows(1, 1), {}, "belong to more than one row of the source"),
        (rows(1, 1), {"repeats": True}, ""),
        ([*rows(1), *rows(1, day=2)], {"repeats": True}, "are not the same"),
        (rows(1, None), {}, "1 rows of the source have null in their key"),
    ],
)
def test_a_key_that_does_not_identify_decides_nothing(judged, source, more, words):
    """Two events of one key, of which one is lost, would look like one that is seen."""
    found = judged(source, rows(1), **more)

    assert of(found) == ([UNDECIDED] * 3 if words else [HELD] * 3)
    assert words in "; ".join(found.problems)
    assert found.status == (2 if words else 0)


def test_a_null_key_in_the_sink_belongs_to_no_event(judged):
    """It is not the null of another row."""
    found = judged(rows(1), rows(1, None, None))

    assert found.total.unexplained == 2
    assert of(found) == [REFUTED, HELD, REFUTED]


def test_a_changed_amount_is_found_though_each_event_is_seen_once(judged):
    """Also where the sums agree: two changes may cancel out."""
    source, sink = rows(1, 2), [*rows(1, amount="0.50"), *rows(2, amount="1.50")]

    found = judged(source, sink, sums=AMOUNT)

    assert found.verdicts[SUMS_AGREE] is REFUTED
    assert of(found)[:3] == [HELD] * 3
    assert found.total.changed == 2
    assert {e["id"] for e in found.counted.examples["changed"]} == {"1", "2"}
    assert found.status == 1


def test_an_amount_that_is_null_is_not_zero(judged):
    """A sum alone would not tell them apart."""
    source = [(1, 1, None), *rows(2)]

    found = judged(source, [*rows(1, amount="0.00"), *rows(2)], sums=AMOUNT)

    assert found.verdicts[SUMS_AGREE] is REFUTED


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"key": (Pair("id", "cast(id as string)"),)},
            "is bigint in the source and",
        ),
        ({"key": (Pair("no_such", "no_such"),)}, "no_such"),
        ({"key": (Pair("map('a', id)", "map('a', id)"),)}, "map"),
        ({"sums": (Pair("cast(amount as double)", "amount"),)}, "is not exact"),
        ({"time": DAY, "until": "tomorrow"}, "'tomorrow' is no int"),
        ({"key": (Pair("struct(id)", "struct(id)"),)}, "fields one by one"),
        ({"key": (Pair("double(id)", "double(id)"),)}, "more than one value"),
        (
            {"key": (Pair(LOWER, LOWER),)},
            "collate(..., UTF8_BINARY)",
        ),
        (
            {"time": Pair("string(day)", "string(day)"), "until": "2"},
            "would be compared letter by letter",
        ),
        (
            {"time": Pair("date'2026-01-01'", "day"), "until": "2026-01-02 12:00:00"},
            "is no date",
        ),
        (
            {
                "sums": (
                    Pair("cast(id as decimal(38,18))", "cast(id as decimal(38,2))"),
                )
            },
            "would round one of them",
        ),
        ({"by": "no_such"}, "no_such"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(judged, more, words):
    """Types that are widened in silence would make all events differ, or none."""
    with pytest.raises(UsageError) as caught:
        judged(rows(1), rows(1), **more)

    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_whole_numbers_of_other_widths_are_the_same_key(judged):
    """A sink often has an int where the source has a long."""
    narrow = "id int, day int, amount decimal(9,2)"

    assert of(judged(rows(1), rows(1), sink_schema=narrow)) == [HELD] * 3


def test_a_key_of_several_columns_and_a_sink_without_the_group(judged):
    """Strays then belong to no group."""
    key = (Pair("id", "n"), Pair("day", "d"))
    sink = [(1, 1), (1, 2), (2, 1)]

    found = judged(
        [*rows(1), *rows(1, day=2)], sink, sink_schema="n long, d int", key=key, by="id"
    )

    assert [(g.by, g.once, g.unexplained) for g in found.groups] == [
        (None, 0, 1),
        ("1", 2, 0),
    ]


def test_claims_that_are_not_asked_for_are_not_judged(judged):
    """At least once alone: duplicates are no matter."""
    found = judged(rows(1), rows(1, 1), claims=(AT_LEAST_ONCE,))

    assert found.verdicts == {"at-least-once": HELD}
    assert judged(rows(1), rows(1, 1), claims=(AT_MOST_ONCE,)).status == 1


def test_the_function_takes_texts(spark):
    """As the command does."""
    source = spark.createDataFrame(rows(1, 2), ROW)
    sink = source.withColumnRenamed("id", "n")

    found = reconcile(
        source,
        sink.where("n = 1"),
        key="id=n",
        sums=["amount"],
        claims=["at-most-once"],
    )

    assert found.verdicts == {"at-most-once": HELD, SUMS_AGREE: REFUTED}
    assert found.to_json()["total"]["missing"] == 1
    with pytest.raises(UsageError, match="no guarantee 'exactly-once'"):
        reconcile(source, sink, key="id=n", claims=["exactly-once"])


@pytest.mark.parametrize(
    "expression",
    [
        "count(*)",
        "rand(1)",
        "uuid()",
        "monotonically_increasing_id()",
        "row_number() over (order by id)",
        "explode(array(id, id))",
    ],
)
@pytest.mark.parametrize("what", ["key", "sums", "time"])
def test_what_one_row_does_not_determine_is_refused(judged, expression, what):
    """Tables that have nothing in common would agree in it."""
    pair = Pair(expression, expression)
    more = {"time": pair, "until": "2"} if what == "time" else {what: (pair,)}

    with pytest.raises(UsageError, match=r"is no value of one row|cannot be read over"):
        judged(rows(1, 2, 3), rows(7, 7, 9), **more)


@pytest.mark.parametrize(
    ("schema", "one", "other"),
    [
        ("id long, a int, b int", (1, 5, None), (1, None, 5)),
        ("id long, a array<array<int>>", (1, [[1], []]), (1, [[], [1]])),
        ("id long, a map<string,int>", (1, {"x": None}), (1, {})),
        ("id long, `a.b` struct<c: int>", (1, (None,)), (1, None)),
    ],
)
def test_rows_that_hash_alike_are_told_apart(judged, schema, one, other):
    """Spark's hash skips what is null, and takes lists in a row for one list."""
    found = judged([one, other], [one], schema=schema, repeats=True)
    same = judged([one, one], [one], schema=schema, repeats=True)

    assert of(found) == [UNDECIDED] * 3
    assert of(same) == [HELD] * 3


def test_a_sum_of_more_digits_than_python_adds_is_exact(judged):
    """The last of 38 digits counts."""
    schema, large = "id long, amount decimal(38,18)", Decimal(12345678901)
    source = [(1, large), (2, Decimal("1E-18"))]

    found = judged(source, source[:1], schema=schema, sums=AMOUNT)

    assert found.verdicts[SUMS_AGREE] is REFUTED


def test_a_sum_of_more_digits_than_spark_holds_decides_nothing(judged):
    """It is null then, as it is of no number."""
    schema, most = "id long, amount decimal(38,0)", Decimal("9" * 38)
    table = [(1, most), (2, most)]

    found = judged(table, table, schema=schema, sums=AMOUNT)

    assert found.verdicts[SUMS_AGREE] is UNDECIDED
    assert "more digits" in "; ".join(found.problems)


def test_a_sum_of_nothing_says_nothing(judged):
    """A cast that gives null everywhere would else agree with itself."""
    null = (Pair("try_cast('x' as decimal(9,2))", "try_cast('x' as decimal(9,2))"),)

    assert judged(rows(1), rows(1), sums=null).verdicts[SUMS_AGREE] is VACUOUS


@pytest.mark.parametrize(
    ("sink", "verdict"),
    [
        (rows(1), HELD),
        ([*rows(1), *rows(8, day=5)], HELD),
        ([*rows(1), *rows(8, day=4)], REFUTED),
    ],
)
def test_a_later_row_of_the_sink_may_have_its_event_yet(judged, sink, verdict):
    """It came while both were read; an early one belongs to no event."""
    found = judged(rows(1), sink, time=DAY, until="4")

    assert found.verdicts["at-most-once"] is verdict


def test_without_a_time_in_the_sink_each_row_of_no_event_counts(judged):
    """That it may be later is not known."""
    found = judged(rows(1), [(1,), (8,)], sink_schema="id long", time=DAY, until="4")

    assert found.total.unexplained == 1


def test_a_time_that_is_no_number_is_owed(judged):
    """NaN is greater than any number, and no time."""
    schema = "id long, t double"
    time = Pair("t", "t")

    found = judged(
        [(1, 1.0), (2, float("nan"))], [(1, 1.0)], schema=schema, time=time, until="5"
    )

    assert found.total.missing == 1


def test_groups_and_faults_by_the_thousand_are_counted(judged):
    """Examples are kept of each, and do not use up the room."""
    source = [(i, i % 2000, Decimal(1)) for i in range(20000)]

    found = judged(source, [], by="day")

    assert len(found.groups) == 2000
    assert found.total.missing == 20000
    assert len(found.counted.examples["missing"]) == 5


@pytest.mark.parametrize("name", ["ignoreCorruptFiles", "ignoreMissingFiles"])
def test_a_setting_that_leaves_out_files_decides_nothing(judged, spark, name):
    """What is left out of both is in neither."""
    spark.conf.set(f"spark.sql.files.{name}", "true")
    try:
        found = judged(rows(1), rows(1))
    finally:
        spark.conf.unset(f"spark.sql.files.{name}")

    assert of(found) == [UNDECIDED] * 3
    assert name in found.problems[0]


def test_a_torn_line_of_a_file_is_no_row_of_nulls(spark, tmp_path):
    """It ends in a sentence, and is no effect of no event."""
    (tmp_path / "t.json").write_text('{"id": 1}\n{"id": 2')
    whole = spark.createDataFrame(rows(1), ROW)
    torn = place_of("sink", str(tmp_path / "t.json"))

    with pytest.raises(UsageError) as caught:
        reconcile(whole, torn.read(spark), key="id")

    message = str(caught.value)
    assert message.startswith(f"the sink json:{tmp_path}/t.json cannot be read: [MALF")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "driver"),
    [
        ("mysql://host/db", "com.mysql.cj.jdbc.Driver"),
        ("sqlserver://host;databaseName=db", "SQLServerDriver"),
    ],
)
def test_a_database_names_the_driver_that_its_jar_has(spark, address, driver):
    """Java does not find one by itself in a jar that Spark has fetched."""
    place = place_of("sink", f"jdbc:{address}", {"dbtable": "t"})

    with pytest.raises(UsageError, match=rf"{driver}; help: give Spark the jar"):
        place.read(spark)


def test_a_driver_that_is_named_is_the_one(spark):
    given = {"dbtable": "t", "Driver": "my.own.Driver"}
    place = place_of("sink", "jdbc:mysql://host/db", given)

    with pytest.raises(UsageError, match=r"ClassNotFoundException: my\.own\.Driver"):
        place.read(spark)
