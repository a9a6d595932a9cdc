"""A replay that is stopped leaves nothing behind that runs."""

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

PROC = Path("/proc")


def of_run(scratch: str) -> set[int]:
    """List the processes that were told of a scratch folder."""
    found = set()
    for entry in PROC.iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                told = (entry / "environ").read_bytes() + (
                    entry / "cmdline"
                ).read_bytes()
            except OSError:
                continue
            if scratch.encode() in told:
                found.add(int(entry.name))
    return found


@pytest.mark.skipif(not PROC.is_dir(), reason="looks for processes in /proc")
@pytest.mark.spark
def test_ctrl_c_leaves_no_process_behind():
    """Spark and its Python workers end with the run, and it says what it kept."""
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", "replay"]
    run = subprocess.Popen(
        [*command, "foreach-batch-append"], stderr=subprocess.PIPE, text=True
    )
    scratch = re.search(r"in (/\S+)", run.stderr.readline()).group(1)
    deadline = time.monotonic() + 60
    while not list(Path(scratch).glob("onceproof_*/checkpoint/commits/0")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running = of_run(scratch)

    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=60)[1]

    left = of_run(scratch)
    shutil.rmtree(scratch, ignore_errors=True)
    assert running
    assert run.returncode == 130
    assert scratch in said
    assert not left
