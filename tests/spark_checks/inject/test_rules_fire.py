"""A rule fires at its own batch, task and attempt, after its marks, and says so."""

from __future__ import annotations

import os
import time

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.checkpoint_edits import own
from onceproof.spark_checks.inject.tracing.tracer import Tracer
from onceproof.spark_checks.plan.rules import EXIT_CODE, Place, Rule, RuleSet
from onceproof.spark_checks.sinks.code_points import may_raise, point_text

HERE = Place(1, 0, 0)


def begun(marks, rule, *places):
    """Fire a rule's place in a process of its own; give the process."""
    child = os.fork()
    if not child:
        plan = RuleSet((Rule("work", "call", **rule),), str(marks), patience=20)
        tracer = Tracer(plan, lambda _: HERE)
        for place in places:
            tracer.fire("work", "call", place)
        os._exit(0)
    return child


def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize(
    ("place", "dies"),
    [
        (HERE, True),
        (Place(0, 0, 0), False),
        (Place(1, 1, 0), False),
        (Place(1, 0, 1), False),
    ],
)
def test_a_rule_fires_at_its_batch_task_and_attempt_alone(tmp_path, place, dies):
    """Another attempt, task or batch goes on, and no mark is left."""
    rule = {"batch": 1, "partition": 0, "attempt": 0, "do": "die", "mark": "died"}

    status = ended(begun(tmp_path, rule, place))

    assert status == (EXIT_CODE if dies else 0)
    assert (tmp_path / "died").exists() == dies


def test_a_rule_that_fires_once_does_nothing_where_its_mark_is(tmp_path):
    """Whichever process left it."""
    rule = {"batch": 1, "do": "die", "mark": "died", "once": True}

    assert ended(begun(tmp_path, rule, HERE)) == EXIT_CODE
    assert ended(begun(tmp_path, rule, HERE)) == 0


def test_a_rule_fires_after_a_mark_alone(tmp_path):
    """Where that mark is not there, it does nothing."""
    rule = {"batch": 1, "do": "die", "after": "begun"}

    assert ended(begun(tmp_path, rule, HERE)) == 0
    (tmp_path / "begun").touch()
    assert ended(begun(tmp_path, rule, HERE)) == EXIT_CODE


def test_a_rule_waits_for_its_marks_before_it_leaves_its_own(tmp_path):
    """What others wait for has not happened until then."""
    rule = {"batch": 1, "do": "pass", "mark": "done", "await_": ("go",)}

    child = begun(tmp_path, rule, HERE)
    time.sleep(0.5)
    early = (tmp_path / "done").exists()
    (tmp_path / "go").touch()

    assert ended(child) == 0
    assert not early
    assert (tmp_path / "done").exists()


def test_no_error_comes_up_where_a_with_ends_or_a_function_returns():
    """It would leave out the ``__exit__`` that a real error runs."""
    line = "line 3 of x.py, put()"

    assert may_raise(point_text(line))
    assert not may_raise(point_text(line, ends=True))
    assert not may_raise(point_text(line, returns=True))


def test_what_is_edited_lies_in_the_runs_own_folder(tmp_path):
    """Anything else is refused."""
    scratch = tmp_path / "scratch"
    (scratch / "checkpoint").mkdir(parents=True)

    assert own(scratch / "checkpoint", scratch) == scratch / "checkpoint"
    for other in (tmp_path / "checkpoint", scratch / ".." / "checkpoint"):
        with pytest.raises(UsageError, match="was not made by this run"):
            own(other, scratch)
