"""The events that queries read: late ones, early ones, and two that close everything.

Time is in seconds. Each batch is read at once, so the watermark after each batch is
known, and no event is late by one way of counting and in time by another.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

DELAY = 10
"""How long the watermark waits behind the latest event, in seconds."""
SCHEMA = "id long, side string, key string, at timestamp, amount long"
SIDES = ("left", "right")
CLOSING = "closing"
"""The key of the events that only move the watermark on; no result shows them."""
_START = datetime(2026, 1, 1, tzinfo=UTC)
_FIRST_TIME = 1_600_000_000


@dataclass(frozen=True)
class TimedEvent:
    """An event with the second that it happened in."""

    side: str
    """The input that it is part of, for a query with two: ``left`` or ``right``."""
    key: str
    """The key that it is grouped by."""
    at: int
    """When it happened, in seconds."""
    amount: int
    """A number to be summed up."""


def _batch(text: str) -> tuple[TimedEvent, ...]:
    """Read events such as ``L a 12 5``: the side, the key, the second, the amount."""
    words = [line.split() for line in text.split(",")]
    sides = {"L": SIDES[0], "R": SIDES[1]}
    return tuple(
        TimedEvent(sides[s], key, int(at), int(amount)) for s, key, at, amount in words
    )


BATCHES = (
    _batch("L a 1 1, R a 2 2, L b 3 3, R b 9 4, L a 12 5, R a 12 6"),
    _batch("L b 25 7, R b 24 8, R a 25 9, L a 8 10, R b 16 11, L a 12 5"),
    _batch("L a 38 12, R a 38 13, L b 21 14, R b 18 15, L b 33 16, L d 20 27"),
    _batch("L a 50 17, R a 50 18, L c 1 19, R c 1 20, L a 31 21, R a 35 22"),
    _batch("L b 62 23, R b 62 24, L c 12 25, R a 55 26"),
    _batch(f"L {CLOSING} 1000 0, R {CLOSING} 1000 0"),
    _batch(f"L {CLOSING} 2000 0, R {CLOSING} 2000 0"),
)
"""What arrives, batch by batch; some is out of order, and some late (key ``c``)."""
FIRST = 3
"""How many batches there are before a fault; the others are what a run goes on with."""


def watermarks(batches: Sequence[Sequence[TimedEvent]]) -> tuple[int, ...]:
    """Compute the watermark after each batch: of two inputs the earlier counts."""
    latest = dict.fromkeys(SIDES, 0)
    found = []
    for batch in batches:
        for event in batch:
            latest[event.side] = max(latest[event.side], event.at)
        found.append(max(0, min(latest.values()) - DELAY))
    return tuple(found)


WATERMARKS = watermarks(BATCHES)
"""The watermark after each batch, in seconds."""


def millis(second: int) -> int:
    """Return the time of a second as Spark logs it, in milliseconds; 0 for none."""
    return round(1000 * (_START.timestamp() + second)) if second else 0


def late(
    batches: Sequence[Sequence[TimedEvent]], closes: Callable[[int], int]
) -> set[tuple[int, int]]:
    """Find the events that lateness drops, each by its batch and its place in it.

    ``closes`` gives the second after which an event's result takes no more events.
    Spark promises to keep what the watermark has not passed. What it has passed may
    count or not, by how many batches ago, so that such events are refused here: raises
    ``ValueError`` for an event that the latest watermark has passed and the one before
    has not.
    """
    marks = (0, 0, *watermarks(batches))
    found = set()
    for number, batch in enumerate(batches):
        before, latest = marks[number], marks[number + 1]
        for place, event in enumerate(batch):
            if event.at > latest:
                continue
            if closes(event.at) > before:
                message = f"{event} of batch {number} may be late, and may be in time"
                raise ValueError(message)
            found.add((number, place))
    return found


def _line(number: int, event: TimedEvent) -> str:
    at = (_START + timedelta(seconds=event.at)).isoformat()
    fields = {"id": number, "side": event.side, "key": event.key}
    return json.dumps(fields | {"at": at, "amount": event.amount})


def lines(
    batches: Sequence[Sequence[TimedEvent]],
    leave_out: AbstractSet[tuple[int, int]] = frozenset(),
) -> list[list[str]]:
    """Write each batch as lines of JSON, without the events that are left out."""
    return [
        [
            _line(100 * number + place, event)
            for place, event in enumerate(batch)
            if (number, place) not in leave_out
        ]
        for number, batch in enumerate(batches)
    ]


def of_inputs(batches: Sequence[Sequence[str]], inputs: int) -> list[list[list[str]]]:
    """Return the lines of each batch for each input: one has them all, two a side."""
    if inputs == 1:
        return [[list(batch) for batch in batches]]
    return [
        [
            [line for line in batch if json.loads(line)["side"] == side]
            for batch in batches
        ]
        for side in SIDES
    ]


def padded(batches: Sequence[Sequence[str]], size: int) -> list[list[str]]:
    """Give each batch the same size; what fills it up is empty."""
    return [[*batch, *[""] * (size - len(batch))] for batch in batches]


def offer(folder: Path, batches: Sequence[Sequence[str]], begin: int = 0) -> None:
    """Put a file for each batch into an input folder, each side apart, in order.

    ``begin`` is the number of the first one.
    """
    for side, part in zip(SIDES, of_inputs(batches, len(SIDES)), strict=True):
        place = folder / side
        place.mkdir(parents=True, exist_ok=True)
        for number, mine in enumerate(part, begin):
            path = place / f"{number:04}.json"
            path.write_text("".join(f"{line}\n" for line in mine), encoding="utf-8")
            os.utime(path, (_FIRST_TIME + 10 * number,) * 2)
