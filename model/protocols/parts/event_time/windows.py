"""How events are put into windows by their time, and which events come too late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.language import *

if TYPE_CHECKING:
    from collections.abc import Callable

EVENT = Sort("event", size=3)
TIME = Sort("time", size=4, ordered=True)
LENGTH = 2

_DIFFERS = ("at-least-once", "effectively-once", "batch-equivalence", "recoverable")
_NO_LATE_EVENTS = ("drops-a-late-event", "takes-a-late-event")


def begins_window(time: Member) -> bool:
    """Return whether a fixed window begins at a time."""
    return time % LENGTH == 0


def begins_two_windows(time: Member) -> bool:
    """Return whether a window twice as long begins at a time."""
    return time % (2 * LENGTH) == 0


class Windows(Part):
    """Windows of two units of time each, one after the other: fixed windows.

    A window is named by the time at which it begins. Which windows there are may
    depend on the events: ``present`` says for each time whether there is one.
    """

    EVENT = EVENT
    TIME = TIME

    begins = state(by_member(begins_window), per=TIME)

    def holds(self, w: Member, t: int, present: Callable[[Member], bool]) -> bool:
        """Return whether the window that begins at ``w`` holds the time ``t``."""
        return all_of(self.begins[w], w <= t, t < w + LENGTH)

    def ends(self, w: Member, present: Callable[[Member], bool]) -> int:
        """Return the time at which a window ends; it does not hold that time."""
        return w + LENGTH


class SlidingWindows(Windows):
    """Windows of two units of time, of which one begins at each time."""

    def holds(self, w: Member, t: int, present: Callable[[Member], bool]) -> bool:
        """An event is in each window that covers its time."""
        return all_of(w <= t, t < w + LENGTH)


class SessionWindows(Windows):
    """Windows that end where no event comes for two units of time.

    Events less than two units apart share a window. An event can extend a window, put
    its beginning earlier, or join two to one: a window that was shown may vanish.
    """

    breaks = _DIFFERS

    def holds(self, w: Member, t: int, present: Callable[[Member], bool]) -> bool:
        """The window begins after a gap, and holds every time until the next."""
        return all_of(
            w <= t,
            all_of(implies(x + 1 == w, not_(present(x))) for x in self.TIME),
            self._unbroken(w, t, present),
        )

    def ends(self, w: Member, present: Callable[[Member], bool]) -> int:
        """The window ends two units after its last event."""
        reached = count(
            all_of(w <= x, self._unbroken(w, x, present)) for x in self.TIME
        )
        return min_of(w + reached + LENGTH - 1, self.TIME.last + LENGTH)

    def _unbroken(self, w: Member, t: int, present: Callable[[Member], bool]) -> bool:
        return all_of(implies(all_of(w <= x, x <= t), present(x)) for x in self.TIME)


class Watermark(Part):
    """The latest time seen, less a delay: a guess that no earlier event will come.

    It is committed with the state, so that a restart has it.
    """

    TIME = TIME

    delay = param(0, "how far the watermark stays behind the latest time")
    now = state(0, high=TIME + 1)

    def after(self, latest: int, least_left: int) -> int:
        """Return the watermark after an event of time ``latest``."""
        return max_of(self.now, latest - self.delay)


class WatermarkForgotten(Watermark):
    """A watermark in memory only: after a restart it begins anew.

    A window that is closed, and whose state is gone, takes events again.
    """

    breaks = _DIFFERS

    now = state(0, high=TIME + 1, volatile=True)


class PerfectWatermark(Watermark):
    """The least time of what is still to come, which this source knows.

    No event is late by it.
    """

    breaks = _NO_LATE_EVENTS

    def after(self, latest: int, least_left: int) -> int:
        """Nothing earlier than that can come."""
        return max_of(self.now, least_left)


class Lateness(Part):
    """An event is late where the window that it joins has been over for too long.

    A window is kept until the watermark is ``allowed`` past its end. What is dropped
    is reported, so that the result can be compared with a batch run.
    """

    allowed = param(1, "how long a window is kept after its end")

    def expires(self, end: int, watermark: int) -> bool:
        """Return whether a window is no longer kept."""
        return end + self.allowed <= watermark

    def takes(self, t: int, watermark: int) -> bool:
        """Return whether an event of that time is looked at, whatever its windows."""
        return all_of(t == t)

    def reports(self) -> bool:
        """Return whether it is said which events were dropped."""
        return all_of(self.allowed >= 0)


class LatenessByTime(Lateness):
    """An event is late where its window is, and also where its own time is.

    A window of a session that is over then has no neighbour left to come.
    """

    def takes(self, t: int, watermark: int) -> bool:
        """Only an event that is not behind by more than what is allowed."""
        return t + self.allowed >= watermark


class LatenessUnreported(Lateness):
    """Late events are dropped, and nobody says which."""

    breaks = _DIFFERS

    def reports(self) -> bool:
        """The drop is silent."""
        return not_(self.allowed >= 0)
