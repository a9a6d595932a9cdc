"""Strategies of Hypothesis, under the name that tests import them by."""

from onceproof.properties.testing.strategies import (
    Case,
    EventBatches,
    drawn_rows,
    event_batches,
    interleavings,
    on_spark,
    replays,
)

__all__ = [
    "Case",
    "EventBatches",
    "drawn_rows",
    "event_batches",
    "interleavings",
    "on_spark",
    "replays",
]
