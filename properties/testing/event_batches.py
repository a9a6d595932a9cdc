"""Batches of events as a source delivers them, for tests that need no Hypothesis."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

Row: TypeAlias = dict[str, Any]

PLAIN = "plain"
OUT_OF_ORDER = "out of order"
DUPLICATED = "duplicated"
LATE = "late"
EMPTY = "empty"
NULL = "null"
SKEWED = "skewed"
KINDS = (PLAIN, OUT_OF_ORDER, DUPLICATED, LATE, EMPTY, NULL, SKEWED)


@dataclass(frozen=True)
class EventBatches:
    """What a source delivers: rows in batches and partitions."""

    rows: tuple[tuple[tuple[Row, ...], ...], ...]
    """The rows: ``rows[batch][partition][n]`` is one of them."""
    key: tuple[str, ...]
    """The fields that identify an event."""
    kind: str = PLAIN
    """What is unusual about the delivery: one of the kinds of ``event_batches``."""

    def flat(self) -> tuple[Row, ...]:
        """Return all rows in the order of delivery: batch by batch."""
        return tuple(
            row for batch in self.rows for partition in batch for row in partition
        )

    def distinct(self) -> tuple[Row, ...]:
        """Return each event once, where it is first delivered: what is owed."""
        first: dict[Hashable, Row] = {}
        for row in self.flat():
            first.setdefault(self.key_of(row), row)
        return tuple(first.values())

    def key_of(self, row: Row) -> tuple[Any, ...]:
        """Return the values that identify a row's event."""
        return tuple(row[name] for name in self.key)

    @property
    def count(self) -> int:
        """The number of rows delivered, repeated ones included."""
        return len(self.flat())


@dataclass(frozen=True)
class Case:
    """One interleaving of a sink, with events of its own: an example of ``replays``."""

    faults: int
    """The most faults that the interleaving has."""
    events: EventBatches
    """The events that the source delivers."""
    nth: int
    """Its number among the sink's interleavings, smallest first; it wraps around."""


def dealt_evenly(rows: Sequence[Row], number: int) -> list[list[Row]]:
    """Deal rows evenly and in order; the first get more where they are uneven."""
    dealt: list[list[Row]] = [[] for _ in range(number)]
    for place, row in enumerate(rows):
        dealt[place * number // max(number, len(rows))].append(row)
    return dealt


def dealt_to_one(
    dealt: list[list[Row]], partitions: int, hot: int, stray: int | None
) -> list[list[list[Row]]]:
    """Put all rows in one partition, but for one at most."""
    numbers = itertools.count()
    spread: list[list[list[Row]]] = []
    for batch in dealt:
        spread.append([[] for _ in range(partitions)])
        for row in batch:
            at = hot + 1 if next(numbers) == stray else hot
            spread[-1][at % partitions].append(row)
    return spread
