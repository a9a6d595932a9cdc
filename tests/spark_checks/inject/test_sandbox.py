"""The guard sees what a path is relative to, and ends who leaves what is his own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from onceproof.spark_checks.plan.rules import EXIT_CODE

CODE = """
import os, shutil, sys
from pathlib import Path
from onceproof.spark_checks.inject import sandbox
from onceproof.spark_checks.plan.rules import RuleSet

own, other = map(Path, sys.argv[1:])
marks = own / "run" / "marks"
marks.mkdir(parents=True)
sandbox.install([RuleSet((), str(marks), "run", allowed=(str(own),))])
{act}
"""


SOCKET = "import socket; socket.socket(socket.AF_UNIX)"


@pytest.mark.parametrize(
    ("act", "status"),
    [
        ("shutil.rmtree(own / 'table')", 0),
        (
            "f = os.open(own / 'table', 0); os.rename('day', 'x', src_dir_fd=f)",
            EXIT_CODE,
        ),
        ("f = os.open(own / 'table', 0); os.mkdir('x', dir_fd=f)", 0),
        ("shutil.rmtree(other / 'table')", EXIT_CODE),
        ("os.rmdir('day', dir_fd=os.open(other / 'table', 0))", EXIT_CODE),
        ("os.chdir(other); os.mkdir('more')", EXIT_CODE),
        (f"{SOCKET}.connect(str(other / 'server'))", EXIT_CODE),
        (f"{SOCKET}.connect('\\0nobody' + str(os.getpid()))", 1),
    ],
)
def test_what_is_relative_to_an_open_folder_lies_in_it(tmp_path, act, status):
    """A folder of the sink's own can be removed whole, and another not at all."""
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        (folder / "table" / "day").mkdir(parents=True)

    done = subprocess.run(
        [sys.executable, "-c", CODE.format(act=act), str(own), str(other)], check=False
    )

    assert done.returncode == status
    assert (other / "table" / "day").is_dir()
