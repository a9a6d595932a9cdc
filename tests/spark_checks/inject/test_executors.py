"""An executor is found by the processes above a task, and only that of the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onceproof.spark_checks.inject.tracing.executors import executor_above

NESTED = """
import subprocess, sys
from onceproof.spark_checks.inject.tracing.executors import executor_above
import os
deep, worker = int(sys.argv[1]), int(sys.argv[2])
if deep:
    print(os.getpid(), flush=True)
    subprocess.run([sys.executable, *sys.orig_argv[1:-2], str(deep - 1), str(worker)])
else:
    print(executor_above([worker]), flush=True)
"""
pytestmark = pytest.mark.skipif(
    not Path("/proc").is_dir(), reason="looks for processes in /proc"
)


def test_the_child_of_a_worker_is_its_executor():
    """Whatever processes are between it and the task."""
    command = [sys.executable, "-c", NESTED, "2", str(os.getpid())]

    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    executor, _, found = lines.split()
    assert found == executor


def test_a_process_of_no_worker_has_no_executor():
    assert executor_above([]) is None
    assert executor_above([os.getpid()]) is None
