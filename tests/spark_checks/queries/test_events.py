"""The events of the grid: what the watermark drops is computed, and never in doubt."""

from __future__ import annotations

import json

import pytest

from onceproof.spark_checks.queries.catalogue.sessions import closing_time as of_session
from onceproof.spark_checks.queries.catalogue.windows import closing_time
from onceproof.spark_checks.queries.events import (
    BATCHES,
    SIDES,
    TimedEvent,
    late,
    lines,
    offer,
    watermarks,
)
from onceproof.spark_checks.queries.query_spec import itself


def test_the_watermark_follows_the_slower_input():
    """It is the delay behind the latest event of the input that is behind."""
    batches = [[TimedEvent("left", "a", 30, 1), TimedEvent("right", "a", 15, 1)]]

    assert watermarks(batches) == (5,)


@pytest.mark.parametrize("closes", [itself, closing_time, of_session])
def test_the_events_of_key_c_are_late_and_no_others(closes):
    """By each way of counting: an event that may be either would decide nothing."""
    found = late(BATCHES, closes)

    assert {BATCHES[n][p].key for n, p in found} == {"c"}
    assert len(found) == sum(e.key == "c" for batch in BATCHES for e in batch)


def test_an_event_that_may_be_late_or_not_is_refused():
    """A batch without events may move the watermark on before, or may not."""
    batches = [
        [TimedEvent(side, "a", 30, 1) for side in SIDES],
        [TimedEvent("left", "a", 10, 1)],
    ]

    with pytest.raises(ValueError, match="may be late, and may be in time"):
        late(batches, itself)


def test_events_are_offered_in_the_order_of_their_batches(tmp_path):
    """Spark reads files by their times."""
    offer(tmp_path, lines(BATCHES, {(0, 0)}))

    files = sorted((tmp_path / "left").iterdir(), key=lambda p: p.stat().st_mtime)
    assert [f.name for f in files] == sorted(f.name for f in files)
    first = [json.loads(line)["id"] for line in files[0].read_text().splitlines()]
    assert first == [2, 4]
