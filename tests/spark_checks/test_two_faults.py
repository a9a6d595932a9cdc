"""Two faults in one interleaving are steered and told apart."""

from __future__ import annotations

from onceproof.spark_checks.replay import Sizes
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
