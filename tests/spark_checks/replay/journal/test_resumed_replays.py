"""A replay that did not come to its end goes on, repeats nothing, and judges alike."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from onceproof.spark_checks.replay import engine, events
from onceproof.spark_checks.replay.journal.journals import Journals
from onceproof.spark_checks.replay.request import ReplayRequest
from tests.spark_checks.steering import SINKS, SMALL

SINK = "foreach-batch-append"


class StoppedError(Exception):
    """What a test stops a replay with."""


def replayed(pool, output, *, faults=1, stop_after=None):
    """Replay a sink with a journal; return its report, and what was heard."""
    heard = []

    def listen(event):
        heard.append(event)
        done = sum(
            isinstance(one, events.Replayed | events.RecoveryRun) for one in heard
        )
        if stop_after is not None and done >= stop_after:
            raise StoppedError

    request = ReplayRequest(
        sizes=SMALL, faults=faults, journals=Journals(output, resume=True)
    )
    reports = engine.replay([SINKS[SINK]], listen, request, pool=pool)
    return reports[0], heard


def begun(heard):
    return {
        event.number for event in heard if isinstance(event, events.InterleavingBegun)
    }


@pytest.mark.ci
@pytest.mark.spark
def test_a_replay_that_was_stopped_goes_on(pool, tmp_path):
    """What was replayed is not replayed again; what refutes is confirmed as ever."""
    whole, _ = replayed(pool, tmp_path / "whole")
    with pytest.raises(StoppedError):
        replayed(pool, tmp_path, stop_after=4)

    report, heard = replayed(pool, tmp_path)

    recalled = {o.interleaving.number for o in report.outcomes} - begun(heard)
    assert recalled
    assert report.recalled == len(recalled)
    assert len(begun(heard)) < len(whole.outcomes)
    assert report.verdicts == whole.verdicts
    assert report.as_stated
    assert [o.spark.shape() for o in report.replayed] == [
        o.spark.shape() for o in whole.replayed
    ]
    assert [o.hits for o in report.outcomes] == [o.hits for o in whole.outcomes]
    assert report.drift == []
    assert not (tmp_path / "journals").exists()


@pytest.mark.spark
def test_a_replay_whose_time_ran_out_goes_on(pool, tmp_path):
    """Its journal stays; the next budget is spent on what is left."""
    sink = SINKS[SINK]
    request = ReplayRequest(
        sizes=SMALL, budget=1e-3, journals=Journals(tmp_path, resume=True)
    )
    with pytest.raises(StoppedError):
        replayed(pool, tmp_path, stop_after=4)
    heard = []

    [report] = engine.replay([sink], heard.append, request, pool=pool)

    assert report.recalled == len(report.outcomes) > 0
    assert report.left == report.requested - report.recalled
    assert not begun(heard)
    [kept] = [event for event in heard if isinstance(event, events.JournalsKept)]
    assert str(kept).endswith("--resume goes on from it")
    assert len(list((tmp_path / "journals").iterdir())) == 1


@pytest.mark.grid
@pytest.mark.spark
def test_a_replay_that_was_killed_goes_on(tmp_path):
    """The first of two sinks is not replayed again at all."""
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", "replay"]
    sinks = ["foreach-batch-upsert", SINK]
    asked = [*command, *sinks, "--batches", "1", "--output", str(tmp_path), "--json"]
    run = subprocess.Popen(
        asked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0
    )
    deadline = time.monotonic() + 300
    while len(lines := _lines(tmp_path, SINK)) < 2:
        assert time.monotonic() < deadline
        assert run.poll() is None
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    assert run.returncode == -signal.SIGKILL
    lines = _lines(tmp_path, sinks[0])

    resumed = subprocess.run(
        [*asked, "--resume"], capture_output=True, text=True, check=False, timeout=600
    )

    found = {one["name"]: one for one in json.loads(resumed.stdout)["sinks"]}
    assert resumed.returncode == 0, resumed.stderr
    assert found[sinks[0]]["recalled"] == len(lines) - 1 >= found[sinks[0]]["replayed"]
    assert found[SINK]["recalled"] > 0
    assert f"{SINK}: " in resumed.stderr
    assert all(one["as_stated"] for one in found.values())
    assert not (tmp_path / "journals").exists()


def _lines(output, sink):
    """Return the lines of a sink's journal; none if there is no journal yet."""
    return [
        line
        for path in (output / "journals").glob(f"{sink}-*")
        for line in path.read_text().splitlines()
    ]
