"""Byteman's jar comes from Maven Central or is named; without one this is said."""

from __future__ import annotations

import shlex

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.session.java.agent import agent
from onceproof.spark_checks.session.java.agent.step_report import FILE, read_steps
from onceproof.spark_checks.session.session_pool import SessionPool


def test_a_jar_that_is_named_is_used(tmp_path, monkeypatch):
    jar = tmp_path / "mine.jar"
    jar.touch()
    monkeypatch.setenv(agent.VARIABLE, str(jar))

    option = agent.agent_jar().option(tmp_path)

    script = tmp_path / "steps.btm"
    assert shlex.split(option) == [f"-javaagent:{jar}=script:{script}"]
    assert "markMicroBatch" not in script.read_text()
    assert "CLASS org.apache.spark.scheduler.OutputCommitCoordinator" in (
        script.read_text()
    )


def test_a_jar_that_is_not_there_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv(agent.VARIABLE, str(tmp_path / "gone.jar"))

    with pytest.raises(UsageError, match="ONCEPROOF_BYTEMAN names no file"):
        agent.agent_jar()
    assert "names no file" in agent.missing_agent()


def test_where_no_jar_can_be_had_it_is_said_and_done_without(tmp_path, monkeypatch):
    monkeypatch.delenv(agent.VARIABLE, raising=False)
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("ONCEPROOF_MAVEN", (tmp_path / "none").as_uri())
    pool = SessionPool(ENTRY_POINTS, agent=True)

    found = pool._agent_jar()

    assert found is None
    assert "org.jboss.byteman:byteman:4.0.27 cannot be fetched" in pool.no_agent


def test_a_report_is_read_in_the_order_of_time(tmp_path):
    later = "20\t1\tlog_commit\tcall\t0\t-1\t-1\tstream"
    first = "7\t1\twrite\treturn\t0\t1\t0\ttask 1"
    (tmp_path / FILE).write_text(f"{later}\n{first}\n")

    write, commit = read_steps(tmp_path)

    assert (write.step, write.batch, write.partition, write.attempt) == (
        "write",
        0,
        1,
        0,
    )
    assert (commit.step, commit.event, commit.partition) == ("log_commit", "call", None)


def test_a_run_without_a_report_has_no_steps(tmp_path):
    assert read_steps(tmp_path) == ()
