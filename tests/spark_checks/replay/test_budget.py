"""Within a budget of time what is left is counted, and no claim is held for it."""

from __future__ import annotations

import pytest

from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.replay import budget, engine
from onceproof.spark_checks.replay.budget import Budget, Deadline
from onceproof.spark_checks.replay.events import Replayed
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.replay.sink_report import status
from tests.spark_checks.steering import SINKS


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(budget.time, "monotonic", lambda: now[0])
    return now


def test_what_a_sink_does_not_need_falls_to_the_next(clock):
    """The first of two gets a half; then the second gets all that is left."""
    shared = Budget(60.0, 2)

    first = shared.next_sink()
    clock[0] += 29
    early = first.over
    clock[0] += 1
    late = first.over
    clock[0] -= 20
    second = shared.next_sink()
    clock[0] += 49
    then = second.over
    clock[0] += 1

    assert (early, late, then, second.over) == (False, True, False, True)


def test_without_a_budget_nothing_ends(clock):
    """No deadline is set."""
    deadline = Budget(None, 1).next_sink()
    clock[0] += 1e9

    assert not deadline.set
    assert not deadline.over


@pytest.mark.ci
@pytest.mark.spark
def test_a_right_sink_is_undecided_if_time_runs_out(pool, monkeypatch):
    """What was replayed held; the others are counted, and nothing is held for them."""
    heard = []

    class Over(Deadline):
        set = True

        @property
        def over(self):
            return any(isinstance(event, Replayed) for event in heard)

    monkeypatch.setattr(Budget, "next_sink", lambda _: Over())
    sink = SINKS["foreach-batch-ledger"]

    [report] = engine.replay([sink], heard.append, ReplayRequest(), pool=pool)

    assert 0 < len(report.replayed) < report.requested
    assert report.left == report.requested - len(report.outcomes)
    assert set(report.verdicts.values()) == {Verdict.UNDECIDED}
    assert status([report], whole=False) == 2


@pytest.mark.spark
def test_a_budget_that_is_spent_before_the_first_replays_nothing(pool):
    """And nothing is claimed."""
    sink, request = SINKS["foreach-batch-append"], ReplayRequest(budget=1e-3)

    [report] = engine.replay([sink], lambda _: None, request, pool=pool)

    assert report.left == report.requested > 0
    assert set(report.verdicts.values()) == {Verdict.UNDECIDED}
