"""Sinks that keep the ids of finished batches in the transaction of their rows."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more


class BatchLedger(Sink):
    """One transaction writes a batch's rows and id; a batch with an id is skipped."""

    ledger = state(False, per=Sink.BATCH)
    due = state(False, per=Sink.BATCH, volatile=True)

    def start_commit(self, b: Member) -> None:
        """Look the batch up; it is due if its id is not there."""
        self.due[b] = not_(self.ledger[b])

    @action(per=Sink.BATCH)
    def write_batch(self, b: Member) -> None:
        """Commit the rows and the id."""
        when(self.due[b])
        self.ledger[b] = True
        self.due[b] = False

    def arrive_late(self, b: Member) -> None:
        """Commit the rows and the id, unless the id is there: it is a key."""
        self.ledger[b] = True

    def kept(self, b: Member) -> bool:
        """The batch's id is there, and so its rows."""
        return self.ledger[b]

    def finished(self, b: Member) -> bool:
        """The callback returns when nothing is due."""
        return not_(self.due[b])

    def visible(self, b: Member, e: Member) -> int:
        """Rows are there exactly when the id is."""
        return if_else(self.ledger[b], 1, 0)


class LedgerLookedUpOnce(Sink):
    """A batch ledger that is not read again by code that tries again after an error.

    A driver that starts again does. So it is right until a reply is lost: the
    transaction was committed, and its code believes that it was not.
    """

    rows = state(0, high=MOST, per=Sink.BATCH)
    ledger = state(False, per=Sink.BATCH)
    due = state(False, per=Sink.BATCH, volatile=True)

    def start_commit(self, b: Member) -> None:
        """Look the batch up; it is due if its id is not there."""
        self.due[b] = not_(self.ledger[b])

    def retry(self, b: Member) -> None:
        """The batch is due again, whatever the ledger holds."""
        self.due[b] = True

    @action(per=Sink.BATCH)
    def write_batch(self, b: Member) -> None:
        """Commit the rows and the id."""
        when(self.due[b])
        self.rows[b] = one_more(self.rows[b])
        self.ledger[b] = True
        self.due[b] = False

    def arrive_late(self, b: Member) -> None:
        """Commit the rows and the id once more: the id is no key."""
        self.rows[b] = one_more(self.rows[b])
        self.ledger[b] = True

    def finished(self, b: Member) -> bool:
        """The callback returns when nothing is due."""
        return not_(self.due[b])

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees every row."""
        return self.rows[b]


class LedgerOfCounter(Sink):
    """A batch ledger that notes a count of the process's own, and not the batch's id.

    Only the last count is kept, and what is not beyond it is skipped. A driver that
    starts again counts from the start, so it skips batches that are not there.
    """

    breaks = ("at-least-once", "effectively-once", "durable", "recoverable")

    rows = state(False, per=Sink.BATCH)
    ledger = state(0, high=Sink.BATCH)
    counted = state(0, high=Sink.BATCH, volatile=True)
    due = state(False, per=Sink.BATCH, volatile=True)

    def start_commit(self, b: Member) -> None:
        """Hand the batch over, with the next count."""
        self.due[b] = True

    @action(per=Sink.BATCH)
    def write_batch(self, b: Member) -> None:
        """Commit the rows and the count, if that is beyond the last one."""
        when(self.due[b])
        self.rows[b] = any_of(self.rows[b], self.counted == self.ledger)
        self.counted = min_of(self.counted, b) + 1
        self.ledger = max_of(self.ledger, self.counted)
        self.due[b] = False

    def finished(self, b: Member) -> bool:
        """The callback returns when nothing is due."""
        return not_(self.due[b])

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees what was not skipped."""
        return if_else(self.rows[b], 1, 0)


class NumberedLog(LedgerLookedUpOnce):
    """As ``LedgerLookedUpOnce``; a batch goes into a log, under a number that is free.

    Code that tries again after an error puts it under the same number, and under the
    next one if the number is taken. It may be its own first try that took it.
    """

    def arrive_late(self, b: Member) -> None:
        """The number is taken by then, and the store refuses the entry."""
