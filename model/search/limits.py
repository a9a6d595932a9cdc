"""Where a search gives up: so many states, or so much memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Where a search gives up: so many states, or bytes."""

    states: int | None = None
    """The most states; None for no limit."""
    memory: int | None = None
    """The most memory in bytes; None for no limit."""

    def exceeded(self, states: int, memory: int) -> str:
        """Return which limit so many states, or so many bytes, are beyond; else ""."""
        if self.states is not None and states > self.states:
            return f"more than {self.states:,} states"
        if self.memory is not None and memory > self.memory:
            return f"more than {self.memory:,} bytes of memory"
        return ""
