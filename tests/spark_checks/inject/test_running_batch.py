"""What Spark sends while none of the code runs is known by its batch."""

from __future__ import annotations

import pytest

from onceproof.spark_checks.inject.running_batch import (
    BEFORE_BATCH,
    IN_BATCH,
    running_batch,
)


@pytest.mark.parametrize(
    ("logged", "batch", "point"),
    [
        ({}, 0, BEFORE_BATCH),
        ({"offsets/0": "v1"}, 0, IN_BATCH),
        ({"offsets/0": "v1", "commits/0": ""}, 0, IN_BATCH),
        ({"offsets/0": "v1", "commits/0": "v1"}, 1, BEFORE_BATCH),
        ({"offsets/9": "v1", "offsets/10": "v1", "commits/9": "v1"}, 10, IN_BATCH),
    ],
)
def test_a_batch_begins_with_its_offsets_and_ends_with_its_commit(
    tmp_path, logged, batch, point
):
    """A trap in the place of the commit ends nothing."""
    for name, text in logged.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    found = running_batch(tmp_path)

    assert (found.batch, found.line, found.time) == (batch, point, 1)
    assert found.partition is None
