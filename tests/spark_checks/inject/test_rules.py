"""A process that a rule hits leaves the marks that tell of it."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from onceproof.spark_checks.inject.checkpoint_edits import Trap
from onceproof.spark_checks.plan.rules import EXIT_CODE, UNMET

STRUCK = """
import json, sys
from onceproof.spark_checks.plan.rules import Place, RuleSet, Rule
from onceproof.spark_checks.inject.tracing.tracer import Tracer

def work():
    pass

marks, rule = json.loads(sys.argv[1])
rule["await_"] = tuple(rule.get("await_", ()))
plan = RuleSet((Rule("work", "call", 0, **rule),), marks, "run", patience=0.2)
Tracer(plan, lambda _: Place(0, run="run")).install()
work()
"""


def hit(marks, **rule):
    text = json.dumps([str(marks), rule])
    command = [sys.executable, "-c", STRUCK, text]
    return subprocess.run(command, check=False, timeout=30).returncode


def test_a_rule_that_fires_leaves_its_mark(tmp_path):
    """The mark is there when the process is dead."""
    status = hit(tmp_path, do="die", mark="stopped")

    marks = [entry.name for entry in tmp_path.iterdir()]

    assert status == EXIT_CODE
    assert marks == ["stopped"]


@pytest.mark.parametrize("do", ["die", "pass", "raise"])
def test_a_wait_that_is_not_met_is_told_and_nothing_follows(tmp_path, do):
    """The process gives up: it says for what it waited, and dies without its mark."""
    status = hit(tmp_path, do=do, mark="stopped", await_=["never"])

    texts = [entry.read_text() for entry in tmp_path.glob(f"{UNMET}-*")]

    assert status == EXIT_CODE
    assert len(texts) == 1
    assert "work(), batch 0, waited in vain for" in texts[0]
    assert "/never" in texts[0]
    assert not (tmp_path / "stopped").exists()


def test_a_task_that_is_given_up_leaves_its_mark_before_it_waits(tmp_path):
    """That it was given up is known at once; its later life gives up on its own."""
    status = hit(tmp_path, do="zombie", mark="lost", await_=["never"])

    assert status == EXIT_CODE
    assert (tmp_path / "lost").exists()


@pytest.fixture
def trap(tmp_path):
    (tmp_path / "commits").mkdir()
    return Trap(tmp_path, 0, tmp_path / "begun", tmp_path / "stopped")


def test_a_trap_that_is_laid_leaves_its_mark_and_is_taken_away(trap, tmp_path):
    """The obstacle is there while a task of the batch runs, and not afterwards."""
    with trap:
        (tmp_path / "begun").touch()
        deadline = time.monotonic() + 10
        while not (tmp_path / "stopped").exists():
            assert time.monotonic() < deadline
        laid = (tmp_path / "commits" / "0").exists()

    assert laid
    assert not (tmp_path / "commits" / "0").exists()


@pytest.mark.parametrize("there", ["offsets", "commits"])
def test_a_trap_that_was_not_sprung_leaves_no_mark(trap, tmp_path, there):
    """No task began, or the batch was committed already: the fault did not happen."""
    (tmp_path / there).mkdir(exist_ok=True)
    (tmp_path / there / "0").write_text("v1")
    if there == "commits":
        (tmp_path / "begun").touch()

    with trap:
        time.sleep(0.1)

    assert not trap.sprung
    assert not (tmp_path / "stopped").exists()
    assert (tmp_path / there / "0").read_text() == "v1"
