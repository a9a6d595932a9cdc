"""By which clock an event is put into windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.event_time.windows import EVENT, TIME

if TYPE_CHECKING:
    from collections.abc import Callable


class EventClock(Part):
    """Event time: an event has the time that it bears."""

    EVENT = EVENT
    TIME = TIME

    has_late_events: ClassVar[bool] = True
    """Whether an event can come after later ones, by this clock."""

    def stamp(self, e: Member, time: int) -> int:
        """Return the time by which an event is put into windows."""
        return time

    def note(self, to_come: Callable[[Member], bool]) -> None:
        """Go on to the next event, as a batch is committed."""


class ProcessingClock(EventClock):
    """Processing time: an event has the time at which the engine first meets it.

    That is noted with the batch, as Spark notes a batch's time, so that a batch that
    runs again has it again. No event is late by it.
    """

    breaks = (
        "at-least-once",
        "effectively-once",
        "batch-equivalence",
        "recoverable",
        "drops-a-late-event",
        "takes-a-late-event",
    )

    has_late_events = False

    clock = state(0, high=TIME)
    at = state(0, high=TIME, per=EVENT)

    def stamp(self, e: Member, time: int) -> int:
        """The engine's clock counts."""
        return self.at[e]

    def note(self, to_come: Callable[[Member], bool]) -> None:
        """Time has passed: what is processed next has a later time."""
        self.clock = min_of(self.clock + 1, self.TIME.last)
        self.at.where(to_come).set(lambda _: self.clock)
