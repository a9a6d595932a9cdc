"""Each source offers the same events, batch by batch."""

from __future__ import annotations

import json

import pytest

from onceproof.spark_checks.queries import events
from onceproof.spark_checks.queries.catalogue import named
from onceproof.spark_checks.queries.configuration import CONFIGURATIONS, parsed
from onceproof.spark_checks.queries.sources import SOURCES
from onceproof.spark_checks.queries.sources.rate import RateInput


@pytest.mark.parametrize("inputs", [1, 2])
def test_each_input_has_its_events_and_no_others(inputs):
    """One input has both sides; two have a side each."""
    batches = events.lines(events.BATCHES)

    parts = events.of_inputs(batches, inputs)

    assert len(parts) == inputs
    for number, batch in enumerate(batches):
        found = [line for part in parts for line in part[number]]
        assert sorted(found) == sorted(batch)
    if inputs == 2:
        for side, part in zip(events.SIDES, parts, strict=True):
            assert {json.loads(x)["side"] for batch in part for x in batch} == {side}


def test_batches_are_filled_up_to_one_size():
    """What fills them up is empty, and comes last."""
    assert events.padded([["a"], ["b", "c"]], 2) == [["a", ""], ["b", "c"]]


def test_the_grid_has_each_source():
    """A source that no configuration of the grid names is never run."""
    assert {configuration.source for configuration in CONFIGURATIONS} == set(SOURCES)


def test_a_source_without_an_end_is_refused():
    """The query would never rest."""
    configuration = parsed("source=rate-micro-batch,trigger=processing-time")

    assert "does not end" in configuration.refusal(named("map"))


def test_the_offset_log_says_how_many_batches_are_read(tmp_path):
    """The last entry counts: one beyond what was offered, too."""
    source = RateInput(tmp_path, 1)
    folder = tmp_path / "checkpoint" / "offsets"
    folder.mkdir(parents=True)
    rows = max(map(len, events.BATCHES))
    for number in (9, 10):
        offset = json.dumps({"offset": rows * (number - 8), "timestamp": 0})
        (folder / str(number)).write_text(f"v1\n{{}}\n{offset}")

    assert source.read(tmp_path / "checkpoint", 3) == 2
    assert source.read(tmp_path / "none", 3) == 0
