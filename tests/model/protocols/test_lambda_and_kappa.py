"""What a batch layer corrects, and what a replay of the log needs."""

from __future__ import annotations

import pytest

from onceproof.model.library import make
from onceproof.properties.judges.by_search import check


def shortest(name: str, breaks: str, **parts: str) -> list[str]:
    """Return the steps of a shortest run that breaks a property."""
    report = check(make(name, parts))
    finding = next(f for f in report.findings if f.property.name == breaks)
    assert finding.trace is not None
    return [event.name for event in finding.trace.events]


def test_only_the_batch_layer_makes_the_result_that_of_a_batch_run():
    """The speed layer dies after it added an event, and adds it again."""
    corrected = check(make("lambda-architecture", {}))

    found = shortest("lambda-architecture", "batch-equivalence", batch="no-batch-layer")

    assert str(corrected.verdicts["batch-equivalence"]) == "exhausted"
    assert str(corrected.verdicts["at-most-once"]) == "refuted"
    twice = ["add", "speed_layer_dies", "add"]
    assert any(found[n : n + 3] == twice for n in range(len(found)))


def test_a_view_that_is_dropped_first_is_missed():
    """Readers lose an event between the two steps, and no fault is needed."""
    found = shortest(
        "lambda-architecture", "durable", batch="batch-layer-truncates-first"
    )

    assert found == ["append", "add", "begin_batch", "batch.truncate"]


@pytest.mark.parametrize(
    ("replay", "cause"),
    [
        ("switch-over-copied-offsets", "start_new"),
        ("switch-over-trimmed-log", "replay.trim"),
    ],
)
def test_a_replay_of_less_than_the_log_repairs_nothing(replay, cause):
    """The event that the old job lost stays lost."""
    right = check(make("kappa-architecture", {}))

    found = shortest("kappa-architecture", "at-least-once", replay=replay)

    assert str(right.verdicts["effectively-once"]) == "exhausted"
    assert cause in found
