"""Hosts are forked from a clean process, and end with it."""

from __future__ import annotations

import importlib
import os
import signal
import time
from pathlib import Path

import pytest

from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.session import warm_session
from onceproof.spark_checks.session.processes.host_processes import (
    ForkServer,
    HostError,
)

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="looks for processes in /proc"
)


@pytest.fixture(scope="module")
def fork_server():
    with ForkServer(ENTRY_POINTS) as made:
        yield made


def state_of(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def alive(pid):
    try:
        return state_of(pid) != "Z"
    except OSError:
        return False


def wait_for_orders(pid):
    """Wait until a host does: only then has it asked to end with its parent."""
    deadline = time.monotonic() + 30
    while state_of(pid) != "S" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert state_of(pid) == "S"


def gone(pid):
    deadline = time.monotonic() + 10
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


def test_modules_that_start_threads_are_left_to_the_hosts(
    fork_server, tmp_path, monkeypatch
):
    """What a template has imported, all its hosts have; it can be forked."""
    place = tmp_path / "site-packages"
    place.mkdir()
    (place / "busy_package.py").write_text(
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
    )
    (place / "open_package.py").write_text("FILE = open(__file__)\n")
    (place / "quiet_package.py").write_text("")
    (place / "broken_package.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(place))
    names = ["busy_package", "broken_package", "open_package", "quiet_package"]

    made = fork_server.template(names)

    assert fork_server._unfit == {"busy_package", "open_package"}
    assert len(list(Path(f"/proc/{made.pid}/task").iterdir())) == 1
    assert fork_server.template(names) is made


def test_what_is_not_installed_is_not_run(fork_server, tmp_path, monkeypatch):
    """A module of the user's that nobody has imported yet is for the hosts alone."""
    ran = tmp_path / "ran"
    (tmp_path / "lazily_imported.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    fork_server.template(["lazily_imported"])

    assert not ran.exists()


def test_a_host_that_ends_by_a_signal_is_a_failure_of_ours(fork_server):
    """It is said how it ended, and what it was ordered to do."""
    host = fork_server.template([]).fork()
    os.kill(host.pid, signal.SIGSEGV)

    with pytest.raises(HostError, match=r"'look' \(by SIGSEGV\)"):
        host.ask({"op": "look"}, 10)
    host.close()


def test_a_host_that_does_not_answer_is_ended(fork_server):
    """It is not waited for any longer."""
    host = fork_server.template([]).fork()
    os.kill(host.pid, signal.SIGSTOP)

    with pytest.raises(HostError, match="did not answer to 'look' within 0 s"):
        host.ask({"op": "look"}, 0.1)
    code = host.wait(10)

    assert code == -signal.SIGKILL
    host.close()


def test_hosts_end_with_the_process_that_asked_for_them():
    """Whatever they are doing, and however deep they were forked."""
    with ForkServer(ENTRY_POINTS) as mine:
        template = mine.template([])
        host = template.fork()
        pids = [mine._process.pid, template.pid, host.pid]
        wait_for_orders(host.pid)
        os.kill(host.pid, signal.SIGSTOP)
        before = [alive(pid) for pid in pids]

    assert before == [True, True, True]
    assert all(gone(pid) for pid in pids)


def test_a_server_that_is_gone_is_a_failure_of_ours():
    """Nothing is said of the sink."""
    with ForkServer(ENTRY_POINTS) as mine:
        template = mine.template([])
        os.kill(template.pid, signal.SIGKILL)
        assert gone(template.pid)

        with pytest.raises(HostError, match="has ended"):
            template.fork()
        other = mine.template([])

        assert other is not template
        assert alive(other.pid)


def test_a_sessions_processes_run_what_they_are_given():
    """The session names no code of the floors above it."""
    room = Path(warm_session.__file__).parent
    above = ("inject", "plan", "replay", "report", "cli", "pytest_plugin")

    named = {
        f"{path.name}: {other}"
        for path in room.rglob("*.py")
        for other in above
        if f"onceproof.spark_checks.{other}" in path.read_text()
    }

    assert not named


def test_the_entry_points_of_a_replay_are_there():
    """They are text, which nothing else would find to be wrong before a replay."""
    module, _, function = ENTRY_POINTS.host.partition(":")

    assert callable(getattr(importlib.import_module(module), function))
    assert callable(importlib.import_module(ENTRY_POINTS.worker).main)
