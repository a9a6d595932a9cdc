"""Where a sketch is kept, and when a batch's events are added to it there."""

from __future__ import annotations

from onceproof.model.language import *


class WithOffsets(Part):
    """Keeps the sketch with the offsets, and adds to it as they are committed."""

    @property
    def is_early(self) -> bool:
        """Whether the sketch is written before the batch is committed."""
        return False


class StoreOfItsOwn(WithOffsets):
    """Keeps the sketch in a store of its own, which is written before the commit.

    A crash between the two has an event added again. A bitmap stays as it is, and
    counters do not.
    """

    @property
    def is_early(self) -> bool:
        """It is."""
        return True
