"""The step that every event passes on its way to a sink, in Python workers.

Failpoints are set at its beginning and end, whatever comes after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame


def begin_task() -> None:
    """Mark, for failpoints, that a task has begun and passed on nothing yet."""


def end_task() -> None:
    """Mark, for failpoints, that a task has passed on all of its rows."""


def pass_on(batches: Iterator[Any]) -> Iterator[Any]:
    """Pass on every row as it is."""
    begin_task()
    yield from batches
    end_task()


def passed(events: DataFrame) -> DataFrame:
    """Let the events pass through Python workers, unchanged."""
    return events.mapInArrow(cast("Any", pass_on), events.schema)
