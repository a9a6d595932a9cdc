"""A driver that SIGKILL ends leaves what the death of its Python process leaves."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.plan import ways
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.plan.plans import Plans
from onceproof.spark_checks.plan.realisations import by_killed_drivers
from onceproof.spark_checks.plan.rules import RuleSet
from onceproof.spark_checks.replay.drivers import own_drivers
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.session.processes.process_sessions import members
from onceproof.spark_checks.session.scratch import left
from onceproof.spark_checks.sinks.interface import ForeachBatch
from tests.spark_checks.steering import SINKS, SMALL, numbered

PROC = Path("/proc")
STARTS = 120
WRITES = ("write(0, 0, 0)", "write(0, 1, 0)", "log_commit(0)")


def replayed(pool, name, only, *, kill):
    choice = Choice(only=None if only is None else frozenset(only))
    request = ReplayRequest(sizes=SMALL, choice=choice, kill_drivers=kill)
    return replay([SINKS[name]], lambda _: None, request, pool=pool)[0]


def assert_alike(pool, name, only):
    """Replay interleavings in both ways; all that readers saw is the same."""
    shared = replayed(pool, name, only, kill=False)

    killed = replayed(pool, name, only, kill=True)

    assert len(killed.outcomes) == len(shared.outcomes) == len(only)
    assert killed.verdicts == shared.verdicts
    assert killed.drift == shared.drift == []
    for one, other in zip(shared.outcomes, killed.outcomes, strict=True):
        assert other.spark is not None, other.not_replayed
        assert other.spark.shape() == one.spark.shape(), other.failpoints
    return shared, killed


@pytest.mark.grid
@pytest.mark.spark
def test_a_killed_driver_shows_what_a_dead_process_shows(pool):
    """In the midst of the sink's work, and before the commit log."""
    words = [
        ("log_offsets(0)", WRITES[0], "crash()", *WRITES),
        ("log_offsets(0)", *WRITES[:2], "crash()", *WRITES),
    ]
    only = [numbered("foreach-batch-append", *word, faults=1) for word in words]

    shared, killed = assert_alike(pool, "foreach-batch-append", only)

    assert {outcome.ways for outcome in shared.outcomes} == {
        (ways.TASKS_DIED,),
        (ways.DIED,),
    }
    assert {outcome.ways for outcome in killed.outcomes} == {(ways.KILLED,)}
    for outcome in killed.outcomes:
        assert any("SIGKILL" in how for how in outcome.failpoints)


@pytest.mark.grid
@pytest.mark.spark
@pytest.mark.parametrize(
    "name",
    [
        "datasource-staged",
        "datasource-unprotected",
        "foreach-batch-append",
        "foreach-batch-ledger",
        "foreach-writer",
        "parquet-manifest",
    ],
)
def test_all_interleavings_of_a_sink_are_alike_in_both_ways(pool, name):
    """Those with tasks that fail or are given up, and those with edits, are too."""
    chosen = replayed(pool, name, None, kill=False)
    only = [outcome.interleaving.number for outcome in chosen.replayed]

    assert_alike(pool, name, only)


class Driver:
    """Takes the place of a driver's process, whose end is known."""

    group = 2

    def __init__(self, reply, status):
        self.reply, self.status = reply, status

    def ask(self, order, seconds):
        return self.reply

    def end(self):
        return self.status


class Drivers:
    """Has just one driver."""

    def __init__(self, *driver):
        self.driver = Driver(*driver)

    def take(self):
        return self.driver

    def forget(self, driver):
        assert driver is self.driver


WELL = {"ended": {"error": "", "late": False, "failed": False}, "died": False}
WELL["lost"] = ""


@pytest.mark.parametrize(
    ("reply", "status", "marked", "failed", "reason"),
    [
        (None, -9, True, False, "killed by SIGKILL"),
        (None, -9, False, True, "ended without a fault"),
        (None, -15, True, True, "ended without a fault"),
        (None, 1, True, True, "ended without a fault"),
        (WELL, -9, True, True, "survived its SIGKILL"),
        (WELL, -9, False, False, ""),
    ],
)
def test_a_kill_counts_only_with_its_mark_and_its_signal(
    tmp_path, reply, status, marked, failed, reason
):
    """Anything else is a failure of the replay, and no verdict."""
    plans = plans_of("foreach-batch-append")
    run = next(plan.runs[0] for plan in plans if kills(plan.runs[0]))
    rules = RuleSet(run.rules, str(tmp_path))
    if marked:
        (tmp_path / run.end_mark.mark).touch()

    start = own_drivers.StartInOwnDriver(Drivers(reply, status), {"patience": 1})
    ended = start.run(rules, run)

    assert ended.failed == failed
    assert reason in ended.error
    assert bool(ended.error) == bool(reason)


def kills(run):
    """Return whether a run ends by a kill."""
    return any(rule.do == "kill" for rule in run.rules)


def plans_of(name):
    """Plan the interleavings of a sink for drivers that are killed."""
    sink = SINKS[name]
    protocol = protocol_of(sink, SMALL)
    kind = kind_of(ForeachBatch(print, read="/data"))
    plans = Plans(protocol, sink, kind, by_killed_drivers)
    return [plans.of(one) for one in interleavings(protocol).classes]


@pytest.mark.ci
@pytest.mark.spark
@pytest.mark.skipif(not PROC.is_dir(), reason="looks for processes in /proc")
def test_ctrl_c_leaves_no_process_of_any_driver():
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", "replay"]
    run = subprocess.Popen(
        [*command, "foreach-batch-append", "--kill-drivers"],
        stderr=subprocess.PIPE,
        text=True,
    )
    scratch = Path(re.search(r"in (/.+)", run.stderr.readline()).group(1))
    deadline = time.monotonic() + STARTS
    while not any(scratch.glob("driver-*/session/spark.log")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    noted = [p for one in left() if one.folder == scratch for p in one.processes]
    started = {p.number: set(members(p.number)) for p in noted if leads(p.number)}

    run.send_signal(signal.SIGINT)
    message = run.communicate(timeout=STARTS)[1]

    there = scratch.exists()
    shutil.rmtree(scratch, ignore_errors=True)
    assert any(started.values())
    assert run.returncode == 128 + signal.SIGINT
    assert message.splitlines()[-1] == "stopped"
    assert "Traceback" not in message
    assert not there
    assert not any(process.runs for process in noted)
    assert not any(members(number) for number in started)


def leads(number):
    """Return whether a process leads a session of the system's."""
    return os.getsid(number) == number
