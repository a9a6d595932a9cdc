"""What a state keeps beside its value, so that a batch can be applied once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.ordered_batches.spouts import B, E

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 2


class OpaqueState(Part):
    """Keeps the value before the last batch, from which the batch is applied again.

    All events count in one value, which each batch writes whole.
    """

    pipeline_role: ClassVar[str] = "sink"

    E = E
    B = B
    shared: ClassVar[bool] = True
    """Whether all batches write one value, or else each a key that no other one has."""

    value = state(0, high=MOST, per=E)
    before = state(0, high=MOST, per=E)
    last = state(0, high=B)

    def base(self, b: Member, e: Member) -> int:
        """Return what a batch is added to."""
        return if_else(self.last == b + 1, self.before[e], self.value[e])

    def skips(self, b: Member) -> bool:
        """Return whether a batch is there, and is not applied again."""
        return False

    def apply(self, b: Member, start: int, end: int) -> None:
        """Add the events of a batch to the value, in one write."""
        skips = self.skips(b)

        def added(e: Member) -> int:
            inside = all_of(start <= e, e < end)
            more = min_of(self.base(b, e) + 1, MOST)
            new = if_else(inside, more, self.base(b, e))
            return if_else(skips, self.value[e], new)

        again = any_of(skips, self.last == b + 1)
        self.before.set(lambda e: if_else(again, self.before[e], self.value[e]))
        self.value.set(added)
        self.last = b + 1


class OpaqueStatePerKey(OpaqueState):
    """Keeps for each key the batch and the value before; a batch writes its keys alone.

    Trident's ``OpaqueMap``. What a batch has put under a key, and then no longer holds
    as it is processed again, stays. Each event has a key of its own.
    """

    shared = False

    breaks_in: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "opaque-spout": ("at-most-once", "effectively-once")
    }

    batch = state(0, high=B, per=E)

    def apply(self, b: Member, start: int, end: int) -> None:
        """Add each event of a batch to the value of its key."""

        def again(e: Member) -> bool:
            return self.batch[e] == b + 1

        def held(e: Member) -> bool:
            return all_of(start <= e, e < end)

        def base(e: Member) -> int:
            return if_else(again(e), self.before[e], self.value[e])

        def written(e: Member) -> int:
            return if_else(held(e), min_of(base(e) + 1, MOST), self.value[e])

        self.before.where(held).set(base)
        self.value.set(written)
        self.batch.where(held).fill(b + 1)
        self.last = b + 1


class TransactionalState(OpaqueState):
    """Keeps the number of the last batch only, and skips a batch of that number."""

    def skips(self, b: Member) -> bool:
        """The batch is there, whatever it holds now."""
        return self.last == b + 1


class PlainState(OpaqueState):
    """Keeps the value alone, and adds a batch each time."""

    breaks = ("at-most-once", "effectively-once")

    def base(self, b: Member, e: Member) -> int:
        """A batch is added to whatever is there."""
        return self.value[e]
