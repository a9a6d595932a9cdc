"""Which of several batches under way may be applied to a state."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.ordered_batches.spouts import B


class InOrder(Part):
    """A batch is applied once all before it are committed."""

    B = B
    one_by_one: ClassVar[bool] = True
    """Whether no batch is applied before those ahead of it are committed."""

    def may_apply(self, b: Member, committed: int) -> bool:
        """Return whether a batch may be applied; so many are committed."""
        return committed == b


class AsTheyCome(InOrder):
    """A batch is applied as soon as it comes, though one before it is not committed.

    The state then has the number of a later batch, and does not know an earlier one.
    Storm's own opaque state refuses a value that is ahead of its batch (storm #636).
    """

    breaks: ClassVar[tuple[str, ...]] = ("at-most-once", "effectively-once")

    one_by_one = False

    def may_apply(self, b: Member, committed: int) -> bool:
        """Any batch that is not committed may be."""
        return committed <= b
