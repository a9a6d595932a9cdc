"""What did not go as planned is told, and never judged."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.replay import events
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.replay.sink_report import status
from onceproof.spark_checks.session import warm_session
from onceproof.spark_checks.session.java.jvm import EnvironmentError_
from onceproof.spark_checks.sinks.interface import Foreach, ForeachBatch
from tests.spark_checks.steering import SINKS, SMALL, numbered

pytestmark = [pytest.mark.spark, pytest.mark.grid]

APPEND = SINKS["foreach-batch-append"]
BEFORE_ALL = ("crash()", "log_offsets(0)", "write(0, 0, 0)", "write(0, 1, 0)")
CRASH = ("log_offsets(0)", "crash()", "write(0, 0, 0)", "write(0, 1, 0)")
AMID = ("log_offsets(0)", "write(0, 0, 0)", "crash()", *BEFORE_ALL[2:])
FAIL_TASK = ("log_offsets(0)", "fail_task(0, 0, 0)", "write(0, 0, 1)", AMID[-1])
WORDS = (BEFORE_ALL, CRASH, AMID, FAIL_TASK)


def number(words) -> int:
    return numbered(APPEND.name, *words, "log_commit(0)", faults=1)


def once(sink, first):
    """Let the callback of the first run do something else first."""

    def build(target):
        inner = sink.build(target)
        begun = target.path / "begun"

        def write(batch, batch_id):
            if not begun.exists():
                begun.touch()
                first()
            inner.write(batch, batch_id)

        return ForeachBatch(write, read=inner.read)

    return build


def dozing(target):
    """Let the first row of all wait for long."""
    inner = APPEND.build(target)
    begun = str(target.path / "begun")

    class Writer:  # of a name that workers know: it is sent to them whole
        def process(self, row):
            if not os.path.exists(begun):  # noqa: PTH110
                open(begun, "w").close()  # noqa: PTH123
                time.sleep(20)

    return Foreach(Writer(), read=inner.read)


def refuse():
    message = "the table is locked"
    raise RuntimeError(message)


SICK = [
    replace(APPEND, name="misnamed", steps={"write": "no_such_function"}),
    replace(APPEND, name="refusing", build=once(APPEND, refuse)),
    replace(APPEND, name="well"),
]
WAITING = [
    replace(APPEND, name="hanging", build=once(APPEND, lambda: time.sleep(30))),
    replace(APPEND, name="slow", build=dozing, steps={}),
]


@pytest.fixture(scope="module")
def reports():
    heard = []
    before = dict(os.environ)
    found = []
    for sinks, words in ((SICK, WORDS), (WAITING, (BEFORE_ALL,))):
        choice = Choice(only=frozenset(number(w) for w in words))
        request = ReplayRequest(sizes=SMALL, choice=choice, patience=12)
        found += replay(sinks, heard.append, request)
    assert dict(os.environ) == before, "the environment is not as it was"
    yield {r.sink.name: r for r in found}, heard
    for scratch in scratch_folders(heard):
        shutil.rmtree(scratch, ignore_errors=True)


def scratch_folders(heard):
    return [Path(e.scratch) for e in heard if isinstance(e, events.Started)]


@pytest.fixture
def outcome(reports):
    def find(name, words):
        report = reports[0][name]
        return next(
            o for o in report.outcomes if o.interleaving.number == number(words)
        )

    return find


@pytest.mark.grid
def test_a_crash_that_never_struck_is_not_replayed(outcome):
    """The function that the rule names is never called: nothing is judged."""
    found = outcome("misnamed", AMID)

    assert found.spark is None
    assert "never injected: the process dies before no_such_function()" in (
        found.not_replayed
    )


def test_a_fault_that_is_survived_must_have_struck(outcome):
    """A run that ends well without the task's failure is no run of that kind."""
    found = outcome("misnamed", FAIL_TASK)

    assert found.spark is None
    assert "never injected" in found.not_replayed


def test_another_failure_is_not_taken_for_the_fault(outcome):
    """The query failed, though not by the crash: the reason is told."""
    found = outcome("refusing", AMID)

    assert found.spark is None
    assert "never injected" in found.not_replayed
    raised = "raised an error in batch 0: RuntimeError: the table is locked"
    assert raised in found.not_replayed


def test_a_query_that_does_not_end_is_not_replayed(outcome):
    """A timeout is no crash."""
    found = outcome("slow", BEFORE_ALL)

    assert found.spark is None
    assert found.not_replayed == "the query did not end within 12 s"


def test_a_driver_that_hangs_is_not_replayed(outcome, reports):
    """The report says where it hung, and its folder is kept."""
    found = outcome("hanging", BEFORE_ALL)

    assert found.spark is None
    assert found.not_replayed.startswith("the sink's code on the driver did not end")
    assert reports[0]["hanging"].kept[found.interleaving.number].is_dir()


def test_a_restart_that_the_model_lacks_is_drift(outcome):
    """The query comes to rest, yet only by one more start than the model has."""
    found = outcome("refusing", BEFORE_ALL)

    assert found.drift
    assert found.spark.shape() == found.model.shape()
    assert len(found.unplanned) == 1


def test_nothing_is_held_that_was_not_replayed(reports):
    """What was steered well alone is judged."""
    report = reports[0]["hanging"]

    verdicts = set(report.verdicts.values())

    assert not report.replayed
    assert verdicts == {Verdict.UNDECIDED}


def test_what_is_suspect_is_kept_and_all_else_is_not(reports):
    """The folder of an interleaving that went amiss is there to be looked into."""
    found = reports[0].values()

    kept = {folder for report in found for folder in report.kept.values()}

    assert kept
    assert all((folder / "checkpoint").is_dir() for folder in kept)
    for report in found:
        suspect = {o.interleaving.number for o in report.outcomes if o.suspect}
        assert report.kept.keys() == suspect
    for scratch in scratch_folders(reports[1]):
        mine = {folder for folder in kept if folder.is_relative_to(scratch)}
        assert {entry for entry in scratch.iterdir() if entry.is_dir()} == mine
        assert events.ScratchKept(str(scratch)) in reports[1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("misnamed", 2), ("refusing", 1), ("hanging", 2), ("slow", 2), ("well", 0)],
)
def test_the_exit_status_tells_drift_from_what_was_missed(reports, name, expected):
    """1 for drift, 2 for what could not be steered, 0 where all went as stated."""
    found = status([reports[0][name]], whole=False)

    assert found == expected


def test_steps_faults_and_recovery_are_told_in_order(reports):
    """Of each interleaving the events are those of its story."""
    at = number(AMID)
    kinds = (events.StepTaken, events.FaultInjected, events.Recovered)

    lines = [
        e
        for e in reports[1]
        if isinstance(e, kinds) and (e.sink, e.number) == ("well", at)
    ]

    assert lines == [
        events.StepTaken("well", at, "write(0, 0, 0)"),
        events.FaultInjected("well", at, "crash()"),
        events.StepTaken("well", at, "log_commit(0)"),
        events.Recovered("well", at),
    ]


def test_a_session_that_does_not_start_leaves_the_environment_alone(
    tmp_path, monkeypatch
):
    """What Spark's processes are told by variables is taken back."""

    def fail(*_):
        message = "no port"
        raise EnvironmentError_(message)

    monkeypatch.setattr(warm_session.WarmSession, "_start", fail)
    before = dict(os.environ)

    with pytest.raises(EnvironmentError_):
        warm_session.WarmSession(tmp_path / "session", tmp_path, ENTRY_POINTS)

    assert dict(os.environ) == before
