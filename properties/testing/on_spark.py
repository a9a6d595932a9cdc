"""Hypothesis strategies for tests over real Spark: events, and a failure among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from onceproof.model.errors import UsageError
from onceproof.properties.testing.deliveries import event_batches
from onceproof.properties.testing.event_batches import DUPLICATED, Case, EventBatches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import SearchStrategy

    from onceproof.properties.testing.event_batches import Row

MOST_CHOICES = 2**12
_DRAWS = 8

on_spark = settings(
    deadline=None,
    max_examples=20,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow],
)
"""Settings for ``@given`` over real Spark, where an example takes a second or two."""


def replays(
    row: SearchStrategy[Row],
    *,
    key: str | Sequence[str],
    faults: int = 1,
    batches: tuple[int, int] = (1, 3),
    partitions: int = 2,
    most_rows: int = 8,
    kinds: Sequence[str] | None = None,
    time: str | None = None,
    weights: str | None = None,
) -> SearchStrategy[Case]:
    """Draw an interleaving with at most ``faults`` faults, and events for it.

    ``event_batches`` draws the events. The default is every kind except "duplicated":
    most sinks show an event twice that the source gives twice, whatever fails.
    Shrinking prefers the fewest faults, then few batches and rows, then the first of
    the sink's interleavings, which have the fewest steps.
    """
    events = event_batches(
        row,
        key=key,
        batches=batches,
        partitions=partitions,
        most_rows=most_rows,
        kinds=kinds,
        leaving_out=() if kinds else (DUPLICATED,),
        time=time,
        weights=weights,
    )
    number = st.integers(1, faults)
    return st.builds(Case, number, events, st.integers(0, MOST_CHOICES))


def drawn_rows(
    row: SearchStrategy[Any], count: int, *, key: tuple[str, ...], seed_: int = 0
) -> list[Row]:
    """Draw rows with different keys; the same seed gives the same rows.

    Raises ``UsageError`` for rows that are not dicts, or lack a field of the key.
    """
    found: list[list[Row]] = []

    def spelled(one: Any) -> str:
        if not isinstance(one, dict) or not set(key) <= set(one):
            message = f"a row must be a dict with {', '.join(key)}, not {one!r}"
            raise UsageError(message)
        return repr([one[name] for name in key])

    @seed(seed_)
    @settings(
        max_examples=_DRAWS,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(row, min_size=count, max_size=count, unique_by=spelled))
    def draw(rows: list[Row]) -> None:
        found.append(rows)

    draw()
    return found[-1]


__all__ = ["Case", "EventBatches", "drawn_rows", "on_spark", "replays"]
