"""Faults inside Spark, by an agent, do what those do that need none."""

from __future__ import annotations

import dataclasses
import shutil
from functools import partial

import pytest
from pyspark.errors import StreamingQueryException

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.spark_steps import is_step
from onceproof.spark_checks.replay import events, sink_plans
from onceproof.spark_checks.replay.conformance.step_meanings import MEANINGS
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.session.java.agent.agent import (
    Agent,
    AgentJar,
    StepRule,
    agent_jar,
    missing_agent,
)
from onceproof.spark_checks.session.java.agent.durable_steps import TABLE
from onceproof.spark_checks.session.java.agent.step_report import read_steps
from onceproof.spark_checks.session.session_pool import SessionPool
from tests.spark_checks.steering import SINKS, SMALL

pytestmark = [pytest.mark.spark, pytest.mark.ci]

TWO_WAYS = ("foreach-batch-append", "datasource-staged", "parquet-folder")
TWO_BATCHES = Sizes(batches=2)
AROUND = ("rename_log", "commit_source", "purge", "ask_commit")
BATCH_OF_FILES = [
    ("log_source", None),
    ("log_offsets", None),
    ("write", 0),
    ("commit_task", 0),
    ("write", 1),
    ("commit_task", 1),
    ("add_to_manifest", None),
    ("sink_commit", None),
    ("log_commit", None),
    ("start_batch", None),
]


@pytest.fixture(scope="module")
def inside():
    """Give a pool whose session has the agent."""
    if missing_agent():
        pytest.skip(missing_agent())
    made = SessionPool(ENTRY_POINTS, agent=True)
    yield made
    made.close()


def session_of(pool):
    return pool.session(attempts=2, partitions=2)


def replayed(pool, name, sizes=SMALL, heard=None):
    request = ReplayRequest(sizes=sizes)
    listener = (lambda _: None) if heard is None else heard.append
    return replay([SINKS[name]], listener, request, pool=pool)[0]


@pytest.mark.grid
@pytest.mark.parametrize("name", TWO_WAYS)
def test_two_ways_to_one_interleaving_give_one_verdict(pool, inside, name):
    """A crash by a fork, a trap or an edit shows what one at Spark's step shows."""
    without, within = replayed(pool, name), replayed(inside, name)
    others = {o.interleaving.number: o for o in without.outcomes}
    alike = 0
    for outcome in within.outcomes:
        assert outcome.spark is not None, outcome.not_replayed
        other = others[outcome.interleaving.number]
        if any(is_step(hit.function) for hit in outcome.hits) and other.spark:
            alike += 1
            assert outcome.spark.shape() == other.spark.shape(), outcome.failpoints
            assert outcome.failpoints != other.failpoints

    assert alike >= 2
    assert within.drift == without.drift == []
    assert within.verdicts == without.verdicts


@pytest.mark.grid
def test_tasks_of_the_file_writer_live_on_after_they_are_given_up(inside):
    """What they write is seen by readers who list the folder, as the model has it."""
    report = replayed(inside, "parquet-folder", TWO_BATCHES)
    lost = [
        outcome
        for outcome in report.outcomes
        if any("given up but lives on" in how for how in outcome.failpoints)
    ]

    assert lost
    for outcome in lost:
        assert outcome.spark is not None
        assert 2 in outcome.spark.seen(len(outcome.spark.moments) - 1)
    assert not report.missed
    assert report.drift == []


def test_a_session_says_at_its_start_what_it_lacks(inside):
    heard = []

    replayed(inside, "foreach-batch-upsert", heard=heard)

    [looked] = [e for e in heard if isinstance(e, events.AgentLooked)]
    assert str(looked).startswith("an agent is in Spark; steps that this session lacks")


def test_a_fault_free_run_reports_its_durable_steps_in_order(inside, tmp_path):
    with session_of(inside) as session:
        steps = run_of_files(session, tmp_path, "plain", [])

    taken = [s for s in steps if s.event == "return" and s.step not in AROUND]
    assert [s.step for s in taken if s.batch is None] == ["write_metadata"]
    for batch in (0, 1):
        mine = [(s.step, s.partition) for s in taken if s.batch == batch]
        assert [step for step in mine if step[1] in (None, 0)] == [
            step for step in BATCH_OF_FILES if step[1] in (None, 0)
        ]
        assert {s.attempt for s in taken if s.partition is not None} == {0}


def test_rules_of_one_run_do_not_touch_another(inside, tmp_path):
    """Two runs in one JVM: one dies at its commit log, the other does not."""
    dies = StepRule("log_commit", "call", 0, "die", mark="0-stopped")
    with session_of(inside) as session:
        failed = run_of_files(session, tmp_path, "dies", [dies], beside="lives")
    lives = read_steps(tmp_path / "lives")

    assert (tmp_path / "dies" / "marks" / "0-stopped").exists()
    assert ("log_commit", "return") not in {(s.step, s.event) for s in failed}
    assert [
        s.batch for s in lives if (s.step, s.event) == ("log_commit", "return")
    ] == [
        0,
        1,
    ]


def test_a_dead_driver_takes_nothing_back(inside, tmp_path):
    """The files of its tasks stay, as after a crash; Spark deletes them on an error."""
    dies = StepRule("sink_commit", "call", 0, "die", mark="0-stopped")
    raises = StepRule("sink_commit", "call", 0, "raise", mark="0-stopped")
    with session_of(inside) as session:
        run_of_files(session, tmp_path, "dies", [dies])
        run_of_files(session, tmp_path, "fails", [raises])

    left = {
        name: len(list((tmp_path / name / "out").glob("part-*.parquet")))
        for name in ("dies", "fails")
    }
    assert left["dies"] > 0
    assert left["fails"] == 0


def test_a_halt_is_refused_where_other_runs_share_the_jvm(inside, tmp_path):
    halts = StepRule("log_commit", "call", 0, "halt")

    with session_of(inside) as session, pytest.raises(UsageError, match="a halt ends"):
        session.agent.arm("one", 0, tmp_path, tmp_path, [halts], 1.0)


def test_a_wrong_class_in_the_table_is_said(inside, tmp_path):
    table = tmp_path / "steps.toml"
    table.write_text(TABLE.read_text().replace("OutputCommitCoordinator", "NoSuch"))

    with session_of(inside) as session:
        context = session.spark.sparkContext._jsc.sc()
        jvm = session.spark._jvm
        wrong = Agent(jvm, context, AgentJar(agent_jar().path, table))
        right = Agent(jvm, context, agent_jar())

    assert wrong.missing == (
        "ask_commit: there is no org.apache.spark.scheduler.NoSuch.canCommit",
    )
    assert not wrong.has("ask_commit")
    assert right.missing == ()


def run_of_files(session, folder, name, rules, beside=""):
    """Run a query of two batches into files; return the steps that are reported."""
    made = [(name, rules)] + ([(beside, [])] if beside else [])
    queries = [_started(session, folder / which, armed) for which, armed in made]
    for query in queries:
        try:
            query.awaitTermination(60)
        except StreamingQueryException:
            assert rules
    for which, _ in made:
        session.agent.disarm(which)
    return read_steps(folder / name)


def _started(session, folder, rules):
    spark = session.spark
    (folder / "marks").mkdir(parents=True)
    source = folder / "in"
    for _ in range(2):
        rows = spark.range(0, 10, 1, 1)
        rows.write.mode("append").parquet(str(source))
    shutil.rmtree(source / "_temporary", ignore_errors=True)
    spark.sparkContext.setLocalProperty("onceproof.run", folder.name)
    session.agent.arm(folder.name, 0, folder, folder / "marks", rules, 20.0)
    writer = (
        spark.readStream.schema("id long")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(source))
        .writeStream.trigger(availableNow=True)
        .option("checkpointLocation", str(folder / "checkpoint"))
    )
    try:
        return writer.format("parquet").start(str(folder / "out"))
    finally:
        spark.sparkContext.setLocalProperty("onceproof.run", None)


def test_each_step_that_spark_took_is_a_step_of_the_model(inside):
    report = replayed(inside, "datasource-staged")

    assert len(report.conforming) == len(report.replayed) >= 5
    assert report.drift == []


def test_a_run_that_the_model_does_not_explain_is_drift(inside, monkeypatch):
    """Readers see what the model says; what Spark did on the way is another matter."""
    swapped = tuple(
        dataclasses.replace(one, actions=("log_commit",))
        if one.step == "log_offsets"
        else one
        for one in MEANINGS
    )
    wrong = partial(sink_plans.CheckedRuns, meanings=swapped)
    monkeypatch.setattr(sink_plans, "CheckedRuns", wrong)

    report = replayed(inside, "foreach-batch-upsert")

    assert len(report.drift) == len(report.replayed) >= 3
    for one in report.drift:
        assert one.model.shape() == one.spark.shape()
        assert "log_offsets(batch 0)" in one.trace.unexplained[0]
