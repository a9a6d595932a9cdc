"""All that a process has started is found, and ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onceproof.spark_checks.session.processes import process_sessions
from onceproof.spark_checks.session.processes.process_sessions import (
    end_session,
    members,
)

STARTS_THREE = """
import os, subprocess, sys, time
children = [
    subprocess.Popen(["sleep", "60"]),
    subprocess.Popen(["sleep", "60"], process_group=0),
    subprocess.Popen(["sleep", "60"], start_new_session=True),
]
print(*[child.pid for child in children], flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_processes_of_other_groups_are_found_and_those_of_other_sessions_are_not():
    leader = subprocess.Popen(
        [sys.executable, "-c", STARTS_THREE],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    same, own_group, own_session = map(int, leader.stdout.readline().split())
    try:
        assert set(members(leader.pid)) == {same, own_group}

        leader.kill()
        os.waitid(os.P_PID, leader.pid, os.WEXITED | os.WNOWAIT)
        gone = end_session(leader.pid)

        assert gone
        assert members(leader.pid) == []
        assert Path(f"/proc/{own_session}").exists()
    finally:
        os.kill(own_session, 9)
        leader.wait()
        leader.stdout.close()


def test_a_session_that_has_only_its_leader_is_gone_at_once(monkeypatch):
    monkeypatch.setattr(process_sessions.time, "sleep", lambda _: pytest.fail("waits"))
    leader = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        assert end_session(leader.pid)
        assert leader.poll() is None
    finally:
        leader.kill()
        leader.wait()
