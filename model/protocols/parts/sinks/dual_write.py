"""Sinks that write to two stores, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onceproof.model.errors import ModelError
from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.append import AppendWhole
from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.model.protocols.parts.sinks.ledger_apart import (
    LedgerAfter,
    PublishedByKey,
)
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink

if TYPE_CHECKING:
    from collections.abc import Mapping


class DualWrite(Sink):
    """A dual write: the driver writes a batch to a first store, then to a second one.

    Each store has a sink of its own, which may be any that works on the driver.
    """

    breaks: ClassVar[tuple[str, ...]] = ("at-most-once", "effectively-once")

    first = part(Sink, default=AppendWhole)
    second = part(Sink, default=AppendWhole)

    ahead = state(False, per=Sink.BATCH, volatile=True)

    @property
    def aborts(self) -> bool:
        """A failed commit is reported where one of the two wants to know."""
        return self.first.aborts or self.second.aborts

    @property
    def writes_in_tasks(self) -> bool:
        """The first sink may; the second has its turn after the tasks."""
        return self.first.writes_in_tasks

    def write(self, b: Member, p: Member, a: Member) -> None:
        """Tasks may write to the first store, which is before the second's turn."""
        if self.second.writes_in_tasks:
            message = (
                f"{self.second.label()} writes in tasks, so it has no turn after "
                f"{self.first.label()}; let the second be a sink that writes on the "
                "driver"
            )
            raise ModelError(message)
        self.first.write(b, p, a)

    def abort_task(self, b: Member, p: Member, a: Member, wrote: bool) -> None:  # noqa: FBT001 - a modelled value
        """Clean up in the first store."""
        self.first.abort_task(b, p, a, wrote)

    def start_commit(self, b: Member) -> None:
        """The first store's turn begins; the second's is still ahead."""
        self.first.start_commit(b)
        self.ahead[b] = True

    @action(per=Sink.BATCH)
    def hand_over(self, b: Member) -> None:
        """The second store's turn begins, once the first sink is done."""
        when(self.ahead[b], self.first.finished(b))
        self.ahead[b] = False
        self.second.start_commit(b)

    def finished(self, b: Member) -> bool:
        """The callback returns when both are done."""
        return all_of(
            not_(self.ahead[b]), self.first.finished(b), self.second.finished(b)
        )

    def abort(self, b: Member) -> None:
        """Clean up in both stores."""
        self.first.abort(b)
        self.second.abort(b)

    def visible(self, b: Member, e: Member) -> int:
        """A reader joins the two stores: it sees what is in both, in all pairs."""
        one, other = self.first.visible(b, e), self.second.visible(b, e)
        several = if_else(other > 1, MOST, if_else(other == 0, 0, one))
        return if_else(one == 0, 0, if_else(one == 1, other, several))


class DualWriteUnlessDone(DualWrite, first=BatchLedger):
    """A dual write: a batch that the first store has is written to neither.

    So a crash between the two is for good: nobody makes up for the second.
    """

    breaks = ("at-least-once", "effectively-once", "durable", "recoverable")
    # Who reads the two stores joined sees nothing of the batch. Who reads each of them
    # sees the half of it that the engine has moved past.
    breaks_in: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "micro-batch-two-stores": ("agreement",)
    }

    def start_commit(self, b: Member) -> None:
        """The first store is asked for the batch; a new one goes to both."""
        self.first.start_commit(b)
        self.ahead[b] = not_(self.first.finished(b))


class Outbox(DualWrite, first=BatchLedger, second=LedgerAfter):
    """Rows and what is to be published are in one transaction with the batch's id.

    A relay publishes what is not marked as published, and marks it after that: it
    publishes again what it could not mark. Richardson, Microservices Patterns, 2018.
    """


class OutboxOnce(DualWrite, first=BatchLedger, second=BatchLedger):
    """An outbox whose relay publishes a batch in one transaction with its id."""

    breaks = ()


class OutboxByKey(DualWrite, first=BatchLedger, second=PublishedByKey):
    """An outbox whose readers know what is published twice by its key."""

    breaks = ()
