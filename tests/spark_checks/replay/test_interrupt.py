"""A replay that is stopped leaves nothing behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark import java_gateway

from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.report.rerun import replay_test
from onceproof.spark_checks.session.interruption import Signals
from onceproof.spark_checks.session.java.jvm import none_left
from onceproof.spark_checks.session.scratch import DEAD, left, sweep
from onceproof.spark_checks.session.session_pool import SessionPool

PROC = Path("/proc")


def of_run(scratch: str) -> set[int]:
    """List the processes that were told of a scratch folder."""
    found = set()
    for entry in PROC.iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                result = (entry / "environ").read_bytes() + (
                    entry / "cmdline"
                ).read_bytes()
            except OSError:
                continue
            if scratch.encode() in result:
                found.add(int(entry.name))
    return found


def starting(scratch: Path) -> bool:
    """Say whether a process has been started; nothing is connected to it yet."""
    return bool(of_run(str(scratch)))


def replaying(scratch: Path) -> bool:
    """Say whether a batch is done in some interleaving."""
    return any(scratch.glob("onceproof_*/checkpoint/commits/0"))


@pytest.mark.skipif(not PROC.is_dir(), reason="looks for processes in /proc")
@pytest.mark.spark
@pytest.mark.parametrize(
    ("moment", "keep", "number"),
    [
        (starting, False, signal.SIGINT),
        pytest.param(starting, True, signal.SIGINT, marks=pytest.mark.grid),
        pytest.param(replaying, False, signal.SIGINT, marks=pytest.mark.grid),
        pytest.param(replaying, True, signal.SIGINT, marks=pytest.mark.grid),
        pytest.param(starting, False, signal.SIGTERM, marks=pytest.mark.grid),
        pytest.param(replaying, False, signal.SIGTERM, marks=pytest.mark.grid),
        pytest.param(replaying, False, signal.SIGHUP, marks=pytest.mark.grid),
    ],
)
def test_a_run_that_is_stopped_leaves_nothing_behind(moment, keep, number, tmp_path):
    """Spark and its workers end with the run; its folder stays where that is asked."""
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", "replay"]
    output = ["--output", str(tmp_path)]
    run = subprocess.Popen(
        [*command, "foreach-batch-append", *output, *(["--keep"] if keep else [])],
        stderr=subprocess.PIPE,
        text=True,
    )
    scratch = Path(re.search(r"in (/.+)", run.stderr.readline()).group(1))
    deadline = time.monotonic() + 120
    while not moment(scratch):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    running = of_run(str(scratch))

    run.send_signal(number)
    message = run.communicate(timeout=120)[1]

    left, kept = of_run(str(scratch)), scratch.exists()
    shutil.rmtree(scratch, ignore_errors=True)
    assert running
    assert run.returncode == 128 + number
    assert message.splitlines()[-1] == "stopped"
    assert "Traceback" not in message
    assert kept == keep == (f"the scratch folder is kept: {scratch}" in message)
    assert not left


@pytest.mark.skipif(not PROC.is_dir(), reason="looks for processes in /proc")
@pytest.mark.spark
@pytest.mark.grid
def test_what_a_killed_run_left_is_removed_by_a_later_one():
    """Its folder, its JVM and its workers; nobody can clean up when killed."""
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", "replay"]
    run = subprocess.Popen(
        [*command, "foreach-batch-append"], stderr=subprocess.PIPE, text=True
    )
    scratch = Path(re.search(r"in (/.+)", run.stderr.readline()).group(1))
    deadline = time.monotonic() + 120
    while not replaying(scratch):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    run.kill()
    run.wait()

    while not any(one.folder == scratch and one.state == DEAD for one in left()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    noted = next(one.processes for one in left() if one.folder == scratch)
    removed = sweep()
    while of_run(str(scratch)):
        assert time.monotonic() < deadline
        time.sleep(0.1)

    assert scratch in removed
    assert noted
    assert not any(process.runs for process in noted)


@pytest.mark.spark
def test_what_ctrl_c_does_is_left_as_it_was():
    """A context's own handler would call Java in the midst of another call."""
    pool, before = SessionPool(ENTRY_POINTS), signal.getsignal(signal.SIGINT)

    with pool.session(attempts=2, partitions=2):
        inside = signal.getsignal(signal.SIGINT)
    pool.close()

    assert inside is before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_process_that_is_just_being_started_is_not_lost(tmp_path, number):
    """A signal comes in the midst of the fork: it is heeded, and the process ended."""
    found, signals = tmp_path / "pid", Signals()

    def interrupt():
        found.write_text(str(os.getpid()))
        os.kill(os.getppid(), number)

    with signals.heeded(), pytest.raises(KeyboardInterrupt), none_left():
        java_gateway.Popen(["sleep", "600"], preexec_fn=interrupt)

    with pytest.raises(ProcessLookupError):
        os.kill(int(found.read_text()), 0)
    assert signals.status == 128 + number


EXPORTED = """
import os
from types import SimpleNamespace

import pytest

from onceproof.spark_checks.replay import engine


@pytest.fixture(scope="session")
def outside():
    yield
    print("the session fixture is torn down")


def test_stopped(outside):
    sink = SimpleNamespace(name="sink", code=("here",))

    def stop(event):
        print("scratch", event.scratch)
        os.kill(os.getpid(), {number})

    engine.replay([sink], stop)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cleans_up_after_a_replay_that_no_fixture_made(number, tmp_path):
    """An exported test calls the engine by itself: its folder goes with the process."""
    test = tmp_path / "test_stopped.py"
    test.write_text(EXPORTED.format(number=int(number)))
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider"]

    run = subprocess.run(
        [*command, "-p", "no:onceproof", test],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )

    scratch = Path(re.search(r"scratch (/.+)", run.stdout).group(1))
    assert run.returncode == pytest.ExitCode.INTERRUPTED, run.stdout + run.stderr
    assert "the session fixture is torn down" in run.stdout
    assert not scratch.exists()


STOPPED = """
import os

import pytest


@pytest.fixture(scope="session")
def outside():
    yield
    print("the session fixture is torn down")


def test_stopped(outside, onceproof_replay):
    os.kill(os.getpid(), {number})


def test_later(onceproof_replay):
    print("a later test runs")
"""


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGINT, pytest.ExitCode.INTERRUPTED),
        (signal.SIGTERM, 128 + signal.SIGTERM),
        (signal.SIGHUP, 128 + signal.SIGHUP),
    ],
)
def test_a_signal_that_ends_processes_stops_pytest_in_order(number, status, tmp_path):
    """Fixtures are torn down, the plugin's among them, and the exit status says why."""
    test = tmp_path / "test_stopped.py"
    test.write_text(STOPPED.format(number=int(number)))

    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", test],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )

    assert run.returncode == status, run.stdout + run.stderr
    assert "the session fixture is torn down" in run.stdout
    assert "a later test runs" not in run.stdout


def test_a_file_whose_replay_is_stopped_gets_no_answer(tmp_path):
    """It is not reported as a test that no longer replays the sink."""
    test = tmp_path / "test_stopped.py"
    test.write_text("def test_stopped():\n    raise KeyboardInterrupt\n")
    counterexample = SimpleNamespace(
        test=f"{test}::test_stopped", sink="sink", property="effectively-once"
    )

    with pytest.raises(KeyboardInterrupt):
        replay_test(tmp_path / "file.json", counterexample, trust=True)
