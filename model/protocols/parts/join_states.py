"""What a join keeps of its two inputs."""

from __future__ import annotations

from onceproof.model.language import *

LEFT = Sort("left event", size=2)


RIGHT = Sort("right event", size=2)


class JoinState(Part):
    """Both sides of a join are kept for good."""

    LEFT = LEFT
    RIGHT = RIGHT

    left = state(False, per=LEFT)
    right = state(False, per=RIGHT)


class JoinStateEvicted(JoinState):
    """A join whose watermark may pass an event at any time, and forgets it."""

    breaks = (
        "at-least-once",
        "effectively-once",
        "batch-equivalence",
        "recoverable",
        "keeps-what-is-done",
        "shows-what-is-done",
    )

    @fault(per=LEFT)
    def evict(self, x: Member) -> None:
        """An event's time is over, though its partner may still come."""
        when(self.left[x])
        self.left[x] = False
