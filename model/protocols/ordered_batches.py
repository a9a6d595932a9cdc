"""Batches with a number, whose commits are in order, over a state that knows it."""

from __future__ import annotations

from onceproof.model.errors import ModelError
from onceproof.model.language import *
from onceproof.model.protocols.parts.ordered_batches.batch_orders import InOrder
from onceproof.model.protocols.parts.ordered_batches.batch_states import (
    OpaqueState,
    TransactionalState,
)
from onceproof.model.protocols.parts.ordered_batches.spouts import (
    OpaqueSpout,
    TransactionalSpout,
)


class OrderedBatches(Protocol):
    """Effectively-once by ordered batch numbers. Marz, Trident state, Storm, 2012.

    A spout cuts its events into batches with consecutive numbers, of which several can
    be under way. A batch is applied to a state, with its number, and then noted as
    committed. If its worker dies in between, the batch and those behind it are
    processed again under the same numbers. The spout decides whether they then hold the
    same events, the state what it makes of that, and the order which batch may be
    applied. Left out: tasks of a batch that has failed, and that still write.
    """

    E = TransactionalSpout.E
    B = TransactionalSpout.B

    spout = part(TransactionalSpout)
    kept = part(OpaqueState)
    order = part(InOrder)

    committed = state(0, high=B)
    position = state(0, high=E)
    running = state(False, per=B, volatile=True)
    end = state(0, high=E, per=B, volatile=True)
    applied = state(False, per=B, volatile=True)

    def __init__(self, **arguments: object) -> None:
        """Take sizes and parts; refuse two parts that would hide what they break."""
        super().__init__(**arguments)
        if not (self.kept.shared or self.order.one_by_one):
            message = (
                f"{self.kept.label()} has a key for each event, so it cannot show what "
                f"{self.order.label()} does to a key of several batches; take another "
                "state, or another order"
            )
            raise ModelError(message)

    @action(per=(B, E), by="spout")
    def emit(self, b: Member, last: Member) -> None:
        """The spout emits the next batch, which ends after an event."""
        when(self._comes_next(b), self._start(b) <= last)
        # The last batch takes all that is left, so that it can be the last.
        when(any_of(b < self.B.last, all_of(e <= last for e in self.E)))
        when(self.spout.may_end(b, last + 1))
        self.spout.note(b, last + 1)
        self.end[b] = last + 1
        self.running[b] = True

    @action(per=B, by="state")
    def apply(self, b: Member) -> None:
        """The batch is applied to the state."""
        when(self.running[b], not_(self.applied[b]))
        when(self.order.may_apply(b, self.committed))
        self.kept.apply(b, self._start(b), self.end[b])
        self.applied[b] = True

    @action(per=B, by="coordinator")
    def commit(self, b: Member) -> None:
        """The batch is noted as committed, and where the next one begins."""
        when(self.committed == b, self.applied[b])
        self.committed = b + 1
        self.position = self.end[b]
        self.running[b] = False
        self.applied[b] = False
        self.end[b] = 0

    @fault(by="worker")
    def die(self) -> None:
        """The batches that are under way will be processed again."""
        when(any_of(self.running[b] for b in self.B))
        self.lose_volatile()

    def _comes_next(self, b: Member) -> bool:
        """Return whether a batch is the first that is not under way."""
        return all_of(
            self.committed <= b,
            not_(self.running[b]),
            all_of(
                implies(all_of(self.committed <= x, x < b), self.running[x])
                for x in self.B
            ),
        )

    def _start(self, b: Member) -> int:
        """Return the event that a batch begins with."""
        before = total(if_else(b == x + 1, self.end[x], 0) for x in self.B)
        return if_else(self.committed == b, self.position, before)

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
            all_of(self.kept.last == b + 1, self.committed == b, not_(self.applied[b]))
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
