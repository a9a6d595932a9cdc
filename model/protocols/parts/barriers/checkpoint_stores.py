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
