"""A task that is parked with a lock is released where nothing else moves."""

from __future__ import annotations

import os
import time

import pytest

from onceproof.spark_checks.inject.tracing.early_release import Stall, released_by
from onceproof.spark_checks.plan.rules import BEAT, WORK, Rule

PARKED = Rule(WORK, "call", 0, "zombie", mark="0-lost", landed="0-landed")


@pytest.fixture
def stall(tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    made = Stall(marks, tmp_path / "checkpoint", 0.5)
    made.expect([PARKED])
    return made, marks


def released(stall, marks, moves):
    """Watch for a second and a half, in which something ``moves`` or does not."""
    with stall:
        for _ in range(15):
            moves()
            time.sleep(0.1)
    assert stall.released == (marks / released_by(PARKED)).exists()
    return stall.released


def test_it_is_released_where_nothing_moves(stall):
    """Its successor waits for what it holds."""
    made, marks = stall
    (marks / PARKED.mark).touch()

    assert released(made, marks, lambda: None)


def test_it_stays_parked_while_others_come_to_their_lines(stall):
    """They are slow, and wait for nothing."""
    made, marks = stall
    (marks / PARKED.mark).touch()

    assert not released(made, marks, lambda: os.utime(marks / BEAT))


def test_it_stays_parked_while_the_query_writes_its_log(stall, tmp_path):
    """The driver goes on, whether or not any code of the user's does."""
    made, marks = stall
    (marks / PARKED.mark).touch()
    commits = tmp_path / "checkpoint" / "commits"
    commits.mkdir(parents=True)

    def write() -> None:
        (commits / str(len(list(commits.iterdir())))).touch()

    assert not released(made, marks, write)


@pytest.mark.parametrize("there", [(), ("0-lost", "0-landed")])
def test_only_a_task_that_is_parked_is_released(stall, there):
    """None has come so far yet, or it has ended."""
    made, marks = stall
    for name in there:
        (marks / name).touch()

    assert not released(made, marks, lambda: None)
