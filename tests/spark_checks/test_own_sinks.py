"""Sinks that nothing is known of are judged by what readers see, of every kind."""

from __future__ import annotations

import functools
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from onceproof.model.errors import UsageError
from onceproof.properties.counterexample.file import TraceStep
from onceproof.properties.guarantees import (
    AT_LEAST_ONCE,
    AT_MOST_ONCE,
    ATOMIC_VISIBILITY,
)
from onceproof.properties.judges.by_history import broken
from onceproof.properties.testing.event_batches import EventBatches
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.inject.tracing.injection_points import MOST_POINTS
from onceproof.spark_checks.inject.tracing.line_trace import MOST_NOTES
from onceproof.spark_checks.inputs.user_events import _frame
from onceproof.spark_checks.plan.choice import Choice, faults_of
from onceproof.spark_checks.report.assessment import (
    CLAIMED,
    MOST_LINES,
    AssessmentRequest,
    judge,
)
from onceproof.spark_checks.report.counterexamples import RequestingTest
from tests.spark_checks import own_sinks as sinks

pytestmark = pytest.mark.spark

HERE = Path(__file__).parent
SCHEMA = "id string, amount long, name string"
DEFAULTS = {"key": ("id",), "allow": (), "code": ()}
FAILS = (TraceStep("fail_task", (), True, {}),)
CRASHES = Choice(steps=(TraceStep("crash", (), True, {}),))
RAISED = Choice(steps=(TraceStep("fail_in_commit", (), True, {}),))
NAMED = [{"id": f"e{n}", "amount": 8**n, "name": "ab"[n % 2]} for n in range(8)]


@pytest.fixture
def judged(pool, tmp_path):
    def ask(build, **words):
        choice = words.pop("choice", Choice(most=9))
        claims = words.pop("claims", CLAIMED)
        named = [words.pop(name, given) for name, given in DEFAULTS.items()]
        test = RequestingTest("", named[0], named[1], claims, named[2])
        words = {"events": SCHEMA, **words}
        question = AssessmentRequest(HERE, tmp_path, test=test, choice=choice, **words)
        return judge(build, question, pool=pool)

    return ask


@pytest.mark.parametrize(
    ("build", "verdict"),
    [
        pytest.param(sinks.remembers, "refuted", marks=pytest.mark.grid),
        (sinks.named_by_start, "refuted"),
        pytest.param(sinks.named_by_build_for_good, "held", marks=pytest.mark.ci),
        pytest.param(sinks.named_by_table, "held", marks=pytest.mark.ci),
        pytest.param(sinks.named_by_epoch, "held", marks=pytest.mark.grid),
        pytest.param(sinks.named_at_random, "refuted", marks=pytest.mark.grid),
        pytest.param(sinks.moves_files, "refuted", marks=pytest.mark.grid),
        pytest.param(sinks.publishes_once, "held", marks=pytest.mark.grid),
        pytest.param(sinks.appending_job, "refuted", marks=pytest.mark.ci),
        pytest.param(sinks.built_in, "held", marks=pytest.mark.grid),
    ],
)
def test_a_sink_is_judged_by_what_it_does(judged, build, verdict):
    """Right and wrong ones of each kind, over events made for a schema."""
    found = judged(build, choice=CRASHES)

    assert str(found.verdict) == verdict
    assert len(found.story.splitlines()) <= MOST_LINES


def test_what_each_build_makes_anew_is_no_verdict(judged):
    """Runs after a crash share a build, and a program that starts again makes another.

    The report names it, and says what to do.
    """
    found = judged(sinks.named_by_build, choice=CRASHES)

    assert found.verdict is Verdict.UNDECIDED
    assert "made in <lambda>()" in found.headline
    assert "differs from build to build" in found.headline
    assert any("target.lasting" in line for line in found.left_out)


@pytest.mark.ci
def test_a_setting_of_the_environment_is_that_of_the_test(judged, monkeypatch):
    """What modules make of it once is not taken for what they make in another test."""
    for name in ("bills", "invoices"):
        monkeypatch.setenv("ORDERS_ARE_CALLED", name)
        found = judged(sinks.named_by_table, choice=Choice(most=4))

        assert found.verdict is Verdict.HELD, found.headline


@pytest.mark.parametrize(
    ("build", "verdict"),
    [
        pytest.param(sinks.files_by_manifest, "held", marks=pytest.mark.grid),
        pytest.param(sinks.files_by_listing, "refuted", marks=pytest.mark.ci),
        pytest.param(
            sinks.files_by_name_and_listing, "refuted", marks=pytest.mark.grid
        ),
        pytest.param(sinks.query_into_listed_files, "refuted", marks=pytest.mark.grid),
    ],
)
def test_sparks_file_sink_is_judged_by_what_its_readers_go_by(judged, build, verdict):
    """A crash leaves files that no manifest names: who lists the folder sees them."""
    found = judged(build, batches=1, choice=Choice())

    assert str(found.verdict) == verdict
    assert not found.report.missed


@pytest.mark.ci
def test_what_a_driver_remembers_lasts_until_it_dies(judged):
    """A count in memory goes on from batch to batch, and begins anew after a crash."""
    found = judged(sinks.counts_batches, choice=CRASHES)

    outcome = found.report.first_break(AT_LEAST_ONCE)
    assert found.verdict is Verdict.REFUTED
    assert outcome is not None
    assert any("dies" in how for how in outcome.failpoints)


@pytest.mark.grid
def test_a_task_that_lives_on_inserts_what_it_had_found_missing(judged):
    """It looked, was given up, and inserted after another had: only that shows it."""
    few = {"batches": 1, "partitions": 1, "events": NAMED[:2]}
    found = judged(sinks.checks_first, choice=Choice(), **few)

    breaking = [
        faults_of(o.interleaving)
        for o in found.report.replayed
        if o.spark is not None and broken(AT_MOST_ONCE, o.spark)
    ]
    assert breaking
    assert set(breaking) == {("lose_in_task",)}


@pytest.mark.grid
@pytest.mark.parametrize(
    ("build", "verdict"),
    [
        pytest.param(sinks.upserts_under_a_lock, "held", marks=pytest.mark.grid),
        (sinks.inserts_under_a_lock, "refuted"),
    ],
)
def test_a_task_that_is_parked_with_a_lock_is_released(judged, build, verdict):
    """Its successor waits for the lock, and nothing would ever move."""
    lost = Choice(steps=(TraceStep("lose_in_task", (), True, {}),))
    few = {"batches": 1, "partitions": 1, "events": NAMED[:2]}

    found = judged(build, choice=lost, **few)

    assert str(found.verdict) == verdict
    assert not found.report.missed
    assert any(o.released_early for o in found.report.replayed)
    assert "replayed with the given-up task released early" in found.story


MYLIB = """
import sqlite3
from contextlib import closing


def store(path, rows, batch):
    with closing(sqlite3.connect(path)) as db:
        if db.execute("SELECT 1 FROM done WHERE batch = ?", (batch,)).fetchone():
            return
        db.execute("INSERT INTO done VALUES (?)", (batch,))
        db.commit()
        db.executemany("INSERT INTO t VALUES (?, ?)", rows)
        db.commit()
"""


@pytest.mark.parametrize(
    ("code", "verdict", "sentence"),
    [
        pytest.param(
            (),
            "refuted",
            "mylib/sinks.py (installed), store()",
            marks=pytest.mark.ci,
        ),
        pytest.param(
            ("mylib",),
            "refuted",
            "mylib/sinks.py, store()",
            marks=pytest.mark.grid,
        ),
        pytest.param(
            ("-mylib",),
            "held",
            "not injected into: mylib (left out by code=)",
            marks=pytest.mark.grid,
        ),
    ],
)
def test_what_an_installed_package_does_is_judged(
    judged, tmp_path, monkeypatch, code, verdict, sentence
):
    """Its mistake lies between two lines of its own; left out, it is said to be."""
    site = tmp_path / "env" / "site-packages"
    (site / "mylib").mkdir(parents=True)
    (site / "mylib" / "__init__.py").write_text("")
    (site / "mylib" / "sinks.py").write_text(MYLIB)
    monkeypatch.syspath_prepend(str(site))
    some = {"batches": 1, "events": NAMED[:2], "code": code}

    found = judged(sinks.through_a_package, choice=Choice(most=9), **some)

    assert str(found.verdict) == verdict
    assert sentence in "\n".join([*found.left_out, found.story])
    early = r"it returned after line .*store\(\): return, and did not run line .*store"
    assert bool(re.search(early, found.story)) == (verdict == "refuted")
    assert not found.report.missed


def tables_in(db):
    with closing(sqlite3.connect(db)) as con:
        return con.execute("SELECT name FROM sqlite_master").fetchall()


@pytest.mark.parametrize(
    "fails",
    [
        pytest.param("", marks=pytest.mark.grid),
        pytest.param("the database is away", marks=pytest.mark.grid),
    ],
)
def test_what_a_sink_registers_is_cleaned_up(judged, tmp_path, recwarn, fails):
    """After each interleaving; what fails is a warning, and the verdict stays."""
    db = str(tmp_path / "shared.db")
    build = functools.partial(sinks.in_tables_of_its_own, db=db, fails=fails)

    found = judged(build, allow=(str(tmp_path),), batches=1, events=NAMED)

    assert found.verdict is Verdict.HELD
    assert tables_in(db) == []
    text = [str(w.message) for w in recwarn if "is not cleaned up" in str(w.message)]
    assert bool(text) == bool(fails)
    assert all(fails in one for one in text)


@pytest.mark.grid
def test_the_run_that_is_kept_is_not_cleaned_up(judged, tmp_path):
    """What broke the claim is there to be looked at."""
    db = str(tmp_path / "shared.db")
    build = functools.partial(sinks.in_tables_of_its_own, db=db, keyed="TEXT")

    found = judged(build, allow=(str(tmp_path),), batches=1, events=NAMED)

    assert found.verdict is Verdict.REFUTED
    assert len(tables_in(db)) == 1


@pytest.mark.grid
def test_a_writer_whose_input_is_cut_off_takes_it_for_the_end(judged):
    """Its rows are lost with a single fault: PySpark calls close without an error."""
    found = judged(sinks.keeps_the_first, batches=1, choice=Choice(most=9))

    breaking = {
        faults_of(o.interleaving)
        for o in found.report.replayed
        if o.spark is not None and broken(AT_LEAST_ONCE, o.spark)
    }
    assert breaking == {("fail_above",)}


@pytest.mark.grid
def test_a_try_that_is_taken_back_may_be_made_again(judged):
    """An error is raised as a call would raise it: ``__exit__`` sees it."""
    found = judged(sinks.tries_a_block_again, events=NAMED, batches=1, choice=RAISED)

    assert found.verdict is Verdict.HELD
    assert found.replayed > 5
    assert {o.not_replayed for o in found.report.outcomes} == {
        "",
        "an error at the end of a with would skip its __exit__",
    }


@pytest.mark.grid
@pytest.mark.parametrize(
    "kind", [Exception, pytest.param(sqlite3.Error, marks=pytest.mark.grid)]
)
def test_an_error_that_is_caught_loses_the_batch(judged, kind):
    """No crash shows it: the code goes on, and the batch is taken for done."""
    build = functools.partial(sinks.swallows, kind=kind)

    found = judged(build, events=NAMED, batches=1, choice=Choice(most=24))

    breaking = {
        faults_of(o.interleaving)
        for o in found.report.replayed
        if o.spark is not None and broken(AT_LEAST_ONCE, o.spark)
    }
    assert breaking == {("fail_in_commit",)}
    assert not found.report.missed
    caught = "the error does not reach Spark, and run 1 goes on: commits/0 is written"
    assert caught in found.story
    assert "the lanes are the model's: there the error ends the run" in found.story


def test_an_error_that_a_job_catches_loses_its_rows(judged):
    """The job ends well, and is not run again."""
    found = judged(sinks.swallowing_job, events=NAMED, batches=1, choice=RAISED)

    assert found.verdict is Verdict.REFUTED
    assert "the error does not reach Spark, and run 1 goes on" in found.story
    assert not found.report.missed


@pytest.mark.grid
def test_what_an_error_ends_is_not_told_to_have_run_to_its_end(judged):
    """What comes before the error has run; the next run comes to the end."""
    found = judged(sinks.appends_and_goes_on, events=NAMED, batches=1, choice=RAISED)

    ran = r"run \d gave batch 0 to your code: it ran (.+)"
    ended = re.findall(ran, found.story)
    assert found.verdict is Verdict.REFUTED
    assert ended[0].startswith("up to line ")
    assert ended[0].endswith('write(): batch.write.mode("append").parquet(path)')
    assert ended[1:] == ["to its end"]


@pytest.mark.grid
def test_what_readers_see_after_a_fault_is_told_with_the_fault(judged):
    """The first line of a report stands alone: it names no step of a model."""
    dies = Choice(steps=(TraceStep("crash_in_task", (), True, {}),))
    some = {"events": NAMED[:4], "batches": 1, "choice": dies}

    found = judged(sinks.one_by_one, claims=(ATOMIC_VISIBILITY,), **some)

    assert "is not atomic-visibility: after a fault (the process " in found.headline
    assert "crash" not in found.headline


@pytest.mark.grid
@pytest.mark.parametrize("asked", [True, False])
def test_threads_of_a_callback_are_hit_too(judged, asked):
    """At their lines and in their tasks; a future that nobody asks hides an error."""
    build = functools.partial(sinks.in_threads, asked=asked)

    found = judged(build, events=NAMED, batches=1, choice=Choice(most=16))

    replayed = found.report.replayed
    hit = {how for o in replayed for how in o.failpoints if "part()" in how}
    assert hit
    assert ("fail_task",) in {faults_of(o.interleaving) for o in replayed}
    assert str(found.verdict) == ("held" if asked else "refuted")


@pytest.mark.grid
def test_a_thread_that_is_not_waited_for_loses_its_batch(judged):
    """The process dies in it when the batch is committed, or before: both are seen."""
    found = judged(sinks.left_to_a_thread, events=NAMED, batches=1, choice=Choice())

    breaking = {
        how
        for o in found.report.replayed
        if o.spark is not None and broken(AT_LEAST_ONCE, o.spark)
        for how in o.failpoints
    }
    assert found.verdict is Verdict.REFUTED
    # A race may come out otherwise when it is run again: that is said, and no more.
    assert not any(outcome.not_replayed for outcome in found.report.missed)
    assert any("the process dies" in how and "put()" in how for how in breaking)


@pytest.mark.grid
def test_tasks_of_a_pool_that_is_kept_are_struck_in_their_own_batch(judged):
    """Its thread has done a batch before, and its target is no code of the user's."""
    found = judged(sinks.in_a_kept_pool, events=NAMED, choice=Choice(steps=FAILS))

    breaking = {
        (o.interleaving.trace.events[at].name, o.interleaving.trace.events[at].members)
        for o in found.report.replayed
        if o.spark is not None and broken(AT_MOST_ONCE, o.spark)
        for at in o.interleaving.faults
    }
    assert {batch for name, (batch, *_) in breaking if name == "fail_task"} == {0, 1}


@pytest.mark.grid
def test_a_job_that_is_tried_again_is_judged(judged):
    """Its second try comes to its end, for no fault hits that."""
    both = Choice(steps=(*FAILS, TraceStep("fail_job", (), True, {})))
    some = {"batches": 1, "events": NAMED[:4], "faults": 2, "choice": both}

    found = judged(sinks.tries_again, **some)

    assert found.verdict is Verdict.REFUTED
    assert any("does not reach Spark" in line for line in found.story.splitlines())


@pytest.mark.grid
def test_a_job_that_fails_for_good_may_be_tried_again(judged):
    """Every attempt of a task fails, and so does the query: the next start fixes it."""
    both = Choice(steps=(*FAILS, TraceStep("fail_job", (), True, {})))
    some = {"batches": 1, "partitions": 1, "events": NAMED[:2], "faults": 2}

    found = judged(sinks.one_by_one, choice=both, **some)

    assert found.verdict is Verdict.HELD
    assert found.replayed == len(found.report.outcomes) > 1


@pytest.mark.grid
def test_a_task_without_events_is_not_waited_for(judged):
    """A function that is called for each row has nothing to do there."""
    events = EventBatches(((tuple(NAMED[:1]), ()),), key=("id",))

    found = judged(sinks.one_by_one, events=events, batches=1, choice=Choice())

    assert found.verdict is Verdict.HELD
    hit = {faults_of(o.interleaving) for o in found.report.replayed}
    assert {("crash",), ("crash_in_task",), ("fail_in_task",)} <= hit
    # The other task has done its work, and this one has none.
    assert not found.report.missed
    assert {o.not_replayed for o in found.report.outcomes} == {
        "",
        "nothing is left to hits where crash() comes",
    }


@pytest.mark.grid
def test_tasks_that_run_other_lines_from_run_to_run_are_undecided(judged, tmp_path):
    """No fault was injected before lines that the first run did not show."""
    where = tmp_path / "builds"
    build = functools.partial(sinks.takes_turns, where=str(where))
    few = {"events": NAMED[:2], "batches": 1, "partitions": 1}

    found = judged(build, allow=(str(where),), **few)

    assert found.verdict is Verdict.UNDECIDED
    assert any("draft.write_" in text for text in found.report.unforeseen)


@pytest.mark.grid
def test_a_task_is_struck_however_many_lines_it_runs(judged):
    """Its last lines too, and where it ends with a loop."""
    dies = Choice(steps=(TraceStep("crash_in_task", (), True, {}),))
    some = {"events": NAMED[:2], "batches": 1, "partitions": 1, "choice": dies}

    found = judged(sinks.after_very_much, **some)

    hit = "; ".join(how for o in found.report.replayed for how in o.failpoints)
    assert found.verdict is Verdict.REFUTED
    assert "INSERT INTO t" in hit
    assert found.report.sink.seen.passed > MOST_NOTES - MOST_POINTS


@pytest.mark.grid
@pytest.mark.parametrize(
    ("build", "verdict"),
    [
        pytest.param(sinks.running_totals, "held", marks=pytest.mark.grid),
        (sinks.adds_up, "refuted"),
    ],
)
def test_a_sink_that_aggregates_is_held_to_the_result(judged, build, verdict):
    """Totals on the way are no surprise; totals that no batch has are."""
    found = judged(build, events=NAMED, key=())

    assert str(found.verdict) == verdict


@pytest.mark.grid
def test_every_line_is_struck_also_where_it_runs_in_tasks_or_takes_back(judged):
    """Of a DataSource: write, commit and abort, and each in the midst."""
    found = judged(sinks.moves_files, choice=Choice(), batches=1, events=NAMED[:2])

    seen = found.report.sink.seen
    hit = "; ".join(h for o in found.report.replayed for h in o.failpoints)
    assert not found.report.missed
    for points in (seen.driver[0], seen.aborts[0], seen.tasks[0, 0][:-1]):
        for point in points:
            assert f"before {point.text}" in hit


@pytest.mark.parametrize("kind", ["file", "database", "spark"])
def test_what_is_not_the_sinks_own_is_refused(judged, tmp_path, kind):
    """It is named, and was not touched; with allow= it may be written to."""
    place = tmp_path / {"file": "out.txt", "database": "out.db", "spark": "out"}[kind]
    where = f"file:{place}" if kind == "spark" else str(place)
    build = functools.partial(sinks.reaches_out, where=where)

    with pytest.raises(UsageError) as refused:
        judged(build)
    message, own = str(refused.value), Path(sinks.__file__).name
    touched = place.exists()
    found = judged(build, allow=(str(place),), choice=Choice(nth=0))

    folder = place if kind == "spark" else tmp_path
    assert re.match(rf".*writes to {place} in line \d+ of {own}, ", message)
    assert f'allow="{folder}"' in message
    assert not touched
    assert place.exists()
    assert found.verdict is Verdict.HELD


def test_another_checkpoint_is_not_touched(judged):
    """A query that would use one is refused before it starts."""
    with pytest.raises(UsageError, match="this run did not make"):
        judged(sinks.other_checkpoint)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"key": ("nr",)}, "no column 'nr'"),
        ({"events": "id strange"}, "is no schema"),
        (
            {"events": [{"id": "a", "amount": 1}, {"id": "b", "amount": [2]}]},
            "no schema fits the rows",
        ),
        ({"events": [{"id": "a", "amount": 1}]}, "too few for 2 batches"),
        ({"events": 7}, "events= takes rows"),
        ({"events": [{"id": "a", "amount": 1}] * 8}, "wrong even without a fault"),
    ],
)
def test_events_that_cannot_be_are_refused(judged, words, sentence):
    """In a sentence that says what is wrong."""
    with pytest.raises(UsageError, match=sentence):
        judged(sinks.named_at_random, **words)


def test_a_column_that_is_null_in_all_rows_is_taken_for_text(pool):
    """Rows that are drawn may have no other value; the order of columns stays."""
    rows = [{"id": n, "note": None, "amount": 2.5} for n in range(4)]

    with pool.session(attempts=2, partitions=2) as session:
        found = _frame(session.spark, rows, None)
        types = found.dtypes

    assert types == [("id", "bigint"), ("note", "string"), ("amount", "double")]


@pytest.mark.grid
def test_a_session_of_the_users_own_is_as_it_was(pool, judged, tmp_path):
    """Replays start theirs beside it, and give back what PySpark has one of."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    pool.stop()
    builder = SparkSession.builder.master("local[1]").appName("mine")
    mine = (
        builder.config("spark.ui.enabled", "false")
        .config("spark.sql.warehouse.dir", str(tmp_path))
        .getOrCreate()
    )
    try:
        before = mine.range(3).count()
        judged(sinks.built_in, choice=Choice(most=2))

        assert SparkContext._active_spark_context is mine.sparkContext
        assert SparkSession.builder.getOrCreate() is mine
        assert mine.range(before).count() == 3
    finally:
        mine.stop()
