"""Which of several batches under way may be applied to a state."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.spouts import B


class InOrder(Part):
    """A batch is applied once all before it are committed."""

    B = B

    def may_apply(self, b: Member, committed: int) -> bool:
        """Return whether a batch may be applied; so many are committed."""
        return committed == b


class AsTheyCome(InOrder):
    """A batch is applied as soon as it comes, though one before it is not committed.

    The state then has the number of a later batch, and does not know an earlier one.
    """

    breaks = ("at-most-once", "effectively-once")

    def may_apply(self, b: Member, committed: int) -> bool:
        """Any batch that is not committed may be."""
        return committed <= b
