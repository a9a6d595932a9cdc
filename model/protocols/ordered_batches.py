"""Batches with a number, whose commits are in order, over a state that knows it."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.batch_states import (
    OpaqueState,
    TransactionalState,
)
from onceproof.model.protocols.parts.spouts import OpaqueSpout, TransactionalSpout


class OrderedBatches(Protocol):
    """Effectively-once by ordered batch numbers. Marz, Trident state, Storm, 2012.

    A spout cuts its events into batches with consecutive numbers. A batch is applied
    to a state, with its number, and then noted as committed. If its worker dies in
    between, the batch is processed again under the same number. The spout decides
    whether it then holds the same events, and the state what it makes of that.
    """

    E = TransactionalSpout.E
    B = TransactionalSpout.B

    spout = part(TransactionalSpout)
    kept = part(OpaqueState)

    committed = state(0, high=B)
    position = state(0, high=E)
    running = state(False, volatile=True)
    end = state(0, high=E, volatile=True)
    applied = state(False, volatile=True)

    @action(per=(B, E), by="spout")
    def emit(self, b: Member, last: Member) -> None:
        """The spout emits the next batch, which ends after an event."""
        when(self.committed == b, not_(self.running), self.position <= last)
        # The last batch takes all that is left, so that it can be the last.
        when(any_of(b == 0, all_of(e <= last for e in self.E)))
        when(self.spout.may_end(b, last + 1))
        self.spout.note(b, last + 1)
        self.end = last + 1
        self.running = True

    @action(per=B, by="state")
    def apply(self, b: Member) -> None:
        """The batch is applied to the state."""
        when(self.committed == b, self.running, not_(self.applied))
        self.kept.apply(b, self.position, self.end)
        self.applied = True

    @action(per=B, by="coordinator")
    def commit(self, b: Member) -> None:
        """The batch is noted as committed, and where the next one begins."""
        when(self.committed == b, self.applied)
        self.committed = b + 1
        self.position = self.end
        self.lose_volatile()

    @fault(by="worker")
    def die(self) -> None:
        """The batch that is under way will be processed again."""
        when(self.running)
        self.lose_volatile()

    @observe(per=E)
    def visible(self, e: Member) -> int:
        """The state holds the event so often."""
        return self.kept.value[e]

    @observe(per=E)
    def accepted(self, e: Member) -> bool:
        """The spout is to deliver every event."""
        return True

    @observe(per=E)
    def promised(self, e: Member) -> bool:
        """A committed batch has the event."""
        return self.position > e

    @sometimes
    def applies_again(self) -> bool:
        """A batch can be under way that the state has already."""
        return any_of(
            all_of(self.kept.last == b + 1, self.committed == b, not_(self.applied))
            for b in self.B
        )

    @sometimes
    def finishes(self) -> bool:
        """Every event can be in a committed batch."""
        return all_of(self.position > e for e in self.E)


class OrderedBatchesOpaque(OrderedBatches):
    """The same where a batch may hold other events the next time. Marz, Trident, 2012.

    An opaque spout goes on if a part of its source is gone. The state has to keep the
    value before the batch. Readers may see an event that then comes in a later batch.
    """

    spout = part(OpaqueSpout)


class OrderedBatchesMismatched(OrderedBatchesOpaque):
    """The same over a state that skips a batch by its number. Marz, Trident, 2012.

    The state has the number of a batch that held other events.
    """

    breaks = (
        "at-most-once",
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
    )

    kept = part(TransactionalState)
