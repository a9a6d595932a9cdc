"""How long a replay of several sinks may take, and each sink's share of it."""

from __future__ import annotations

import time


class Budget:
    """Shares out a time among sinks; what one does not need falls to those after it."""

    def __init__(self, seconds: float | None, sinks: int) -> None:
        """Let so many ``sinks`` take so many seconds from now on; None is no limit."""
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._sinks = sinks

    def next_sink(self) -> Deadline:
        """Return when the replay of the next sink ends."""
        if self._ends is None:
            return Deadline()
        left = max(0.0, self._ends - time.monotonic())
        share = left / max(1, self._sinks)
        self._sinks -= 1
        return Deadline(time.monotonic() + share)


class Deadline:
    """When no interleaving of a sink is begun any more."""

    def __init__(self, ends: float | None = None) -> None:
        """End at a moment of the monotonic clock; None is never."""
        self._ends = ends

    @property
    def set(self) -> bool:
        """Whether there is an end at all."""
        return self._ends is not None

    @property
    def over(self) -> bool:
        """Whether the end has come."""
        return self._ends is not None and time.monotonic() >= self._ends
