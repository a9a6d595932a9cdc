"""Two faults in one interleaving are steered and distinguished."""

from __future__ import annotations

import pytest

from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.request import ReplayRequest
from tests.spark_checks.steering import SINKS, SMALL, numbered

pytestmark = pytest.mark.spark

WRITES = ("write(0, 0, 0)", "write(0, 1, 0)")
BETWEEN = (
    "log_offsets(0)",
    "crash()",
    *WRITES,
    "log_commit(0)",
    "crash()",
    "log_offsets(1)",
    "write(1, 0, 0)",
    "write(1, 1, 0)",
    "log_commit(1)",
)
PUBLISHED = (
    "log_offsets(0)",
    "crash()",
    *WRITES,
    "sink.publish(0)",
    "crash()",
    *WRITES,
    "log_commit(0)",
)
GIVEN_UP = (
    "log_offsets(0)",
    "lose_contact(0, 0, 0)",
    "crash()",
    *WRITES,
    "log_commit(0)",
    "zombie_write(0, 0, 0)",
)
SKIPPED = (
    "log_offsets(0)",
    "sink.write_rows(0)",
    "sink.write_ledger(0)",
    "crash()",
    "fail_task(0, 0, 0)",
    "log_commit(0)",
)
ABORTED = (
    "log_offsets(0)",
    "fail_task(0, 0, 0)",
    "fail_job(0, 0, 1)",
    "sink.move(0, 0)",
    "sink.move(0, 1)",
    "log_commit(0)",
)
FAILED = (
    "log_offsets(0)",
    "write(0, 0, 0)",
    "fail_task(0, 1, 0)",
    "fail_job(0, 1, 1)",
    *WRITES,
    "log_commit(0)",
)
ASKED = {
    "datasource-staged": PUBLISHED,
    "foreach-batch-append": GIVEN_UP,
    "foreach-batch-ledger-apart": SKIPPED,
    "datasource-unprotected": ABORTED,
    "foreach-writer": FAILED,
}


@pytest.fixture(scope="module")
def outcomes(pool):
    """Replay one interleaving of each sink, in one session."""
    found = {}
    for name, words in ASKED.items():
        choice = Choice(only=frozenset([numbered(name, *words)]))
        plan = ReplayRequest(2, SMALL, choice)
        [report] = replay([SINKS[name]], lambda _: None, plan, pool=pool)
        [found[name]] = report.outcomes
    return found


def test_two_crashes_are_two_moments(pool):
    """Each crash is looked at by itself, and Spark does as the model does at both."""
    name, sizes = "foreach-batch-append", Sizes(batches=2)
    number = numbered(name, *BETWEEN, sizes=sizes)

    plan = ReplayRequest(2, sizes, Choice(only=frozenset([number])))
    reports = replay([SINKS[name]], lambda _: None, plan, pool=pool)

    outcome = reports[0].outcomes[0]
    assert len(set(outcome.spark.moments)) == 3
    assert not outcome.drift, (outcome.model, outcome.spark)


@pytest.mark.ci
def test_a_second_run_is_ended_after_the_sink_has_committed(outcomes):
    """On a restart ``offsets/0`` is there already; the batch still runs to its end."""
    outcome = outcomes["datasource-staged"]

    published = [row.outcomes[1].visible for row in outcome.spark.rows]

    assert published == [1]
    assert not outcome.drift, (outcome.model, outcome.spark)


def test_a_task_may_land_after_a_crash(outcomes):
    """What was given up before the crash writes after the next run's commit."""
    outcome = outcomes["foreach-batch-append"]

    after_crash, at_rest = (outcome.spark.seen(i) for i in range(2))

    assert set(after_crash) == {0}
    assert set(at_rest) == {1, 2}
    assert not outcome.drift, (outcome.model, outcome.spark)


def test_a_task_that_does_not_run_again_cannot_be_struck(outcomes):
    """The callback skips a batch whose id it finds: the fault finds no point."""
    outcome = outcomes["foreach-batch-ledger-apart"]

    message = outcome.not_replayed

    assert outcome.spark is None
    assert outcome.known
    assert message == "no task of batch 0 runs again, so no fault can hit it"


@pytest.mark.parametrize("name", ["datasource-unprotected", "foreach-writer"])
def test_a_task_may_fail_at_every_attempt(outcomes, name):
    """The query fails, of a DataSource the abort runs, and a restart does the batch."""
    outcome = outcomes[name]

    assert outcome.spark.rested
    assert not outcome.drift, (outcome.model, outcome.spark)
    assert outcome.spark.moments[0].startswith("after fail_job(")
