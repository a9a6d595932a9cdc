"""A time is a number with a unit, and nothing else."""

from __future__ import annotations

import click
import pytest

from onceproof.spark_checks.cli.duration import DURATION


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90.0), ("5m", 300.0), ("1h", 3600.0), ("45", 45.0), ("1.5m", 90.0)],
)
def test_a_time_is_read_in_seconds(text, seconds):
    """A number alone is in seconds."""
    assert DURATION.convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["0", "0m", "-5m", "soon", "5 m", "5d", "m", "1e3"])
def test_what_is_no_time_is_refused(text):
    """The message shows how it is written."""
    with pytest.raises(click.BadParameter, match="is no time; write 90s, 5m or 1h"):
        DURATION.convert(text, None, None)
