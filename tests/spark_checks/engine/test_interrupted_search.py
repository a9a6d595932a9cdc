"""Ctrl-C ends a search on Spark in a sentence, and loses no level."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time

import pytest

from onceproof.spark_checks.engine.progress_file import levels_in

# It starts Spark twice, which takes minutes on a slow machine.
pytestmark = [pytest.mark.spark, pytest.mark.grid]

SEARCH = (*("check", "two-phase-commit", "--set", "RM=2"), "--property", "agreement")
PATIENCE = 240
FAR = re.compile(r"[\d,]+ states, [\d,]+ generated, depth \d+")


def searching(folder):
    """Start the search, as a user does."""
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", *SEARCH]
    return subprocess.Popen(
        [*command, "--engine", "spark", "--folder", folder, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_an_interrupted_search_says_what_it_keeps(tmp_path):
    folder = tmp_path / "states"
    first, until = searching(folder), time.monotonic() + PATIENCE
    while first.poll() is None and levels_in(folder) < 3 and time.monotonic() < until:
        time.sleep(0.1)
    first.send_signal(signal.SIGINT)
    out, err = first.communicate(timeout=PATIENCE)
    kept = levels_in(folder)

    second = searching(folder)
    found, said_again = second.communicate(timeout=PATIENCE)

    assert first.returncode == 128 + signal.SIGINT
    assert not out
    assert [line for line in err.splitlines() if not FAR.fullmatch(line)] == [
        f"{folder} keeps {kept} levels; the same command goes on from there",
        "stopped",
    ]
    assert f"{folder} has {kept} levels of a search; if it is this one" in said_again
    assert json.loads(found)["distinct"] == 56
