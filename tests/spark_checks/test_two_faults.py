"""Two faults in one interleaving are steered and told apart."""

from __future__ import annotations

from onceproof.spark_checks.sizes import Sizes
from tests.spark_checks.steering import replayed


def test_two_crashes_are_two_moments():
    """Each crash is looked at by itself, and Spark does as the model does at both."""
    outcome = replayed(
        "foreach-batch-append",
        "log_offsets(0)",
        "crash()",
        "write(0, 0, 0)",
        "write(0, 1, 0)",
        "log_commit(0)",
        "crash()",
        "log_offsets(1)",
        "write(1, 0, 0)",
        "write(1, 1, 0)",
        "log_commit(1)",
        sizes=Sizes(batches=2),
    )

    moments = outcome.spark.moments

    assert len(set(moments)) == 3
    assert not outcome.drift, (outcome.model, outcome.spark)


def test_a_second_run_is_ended_after_the_sink_has_committed():
    """On a restart ``offsets/0`` is there already; the batch still runs to its end."""
    outcome = replayed(
        "datasource-staged",
        "log_offsets(0)",
        "crash()",
        "write(0, 0, 0)",
        "write(0, 1, 0)",
        "sink.publish(0)",
        "crash()",
        "write(0, 0, 0)",
        "write(0, 1, 0)",
        "log_commit(0)",
    )

    published = [row.fared[1].visible for row in outcome.spark.rows]

    assert published == [1]
    assert not outcome.drift, (outcome.model, outcome.spark)


def test_a_task_may_land_after_a_crash():
    """What was given up before the crash writes after the next run's commit."""
    outcome = replayed(
        "foreach-batch-append",
        "log_offsets(0)",
        "lose_contact(0, 0, 0)",
        "crash()",
        "write(0, 0, 0)",
        "write(0, 1, 0)",
        "log_commit(0)",
        "zombie_write(0, 0, 0)",
    )

    after_crash, at_rest = (outcome.spark.seen(i) for i in range(2))

    assert set(after_crash) == {0}
    assert set(at_rest) == {1, 2}
    assert not outcome.drift, (outcome.model, outcome.spark)


def test_a_task_that_does_not_run_again_cannot_be_struck():
    """The callback skips a batch whose id it finds: the fault has nothing to strike."""
    outcome = replayed(
        "foreach-batch-ledger-apart",
        "log_offsets(0)",
        "sink.write_rows(0)",
        "sink.write_ledger(0)",
        "crash()",
        "fail_task(0, 0, 0)",
        "log_commit(0)",
    )

    said = outcome.not_replayed

    assert outcome.spark is None
    assert outcome.known
    assert said == "no task of batch 0 runs again, so none can be struck"
