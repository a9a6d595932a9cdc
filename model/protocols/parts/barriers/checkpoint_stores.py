"""Where the pointer to the last complete checkpoint is."""

from __future__ import annotations

from onceproof.model.language import *

C = Sort("checkpoint", size=2, ordered=True)


class CheckpointStore(Part):
    """Where the pointer to the last complete checkpoint is, and what it points to."""

    C = C
    complete = state(0, high=C)
    discarded = state(False)
    requested = state(False, volatile=True)

    def lose_track(self) -> None:
        """The store may have the pointer or not: so nothing is discarded."""


class DiscardsUnanswered(CheckpointStore):
    """Takes a reply that never came for a refusal, and discards the checkpoint.

    FLINK-22494. The pointer may name what is discarded; then no restart finds it.
    """

    breaks = ("at-least-once", "effectively-once", "durable", "recoverable")

    def lose_track(self) -> None:
        """The state that the pointer may name is gone."""
        self.discarded = True
