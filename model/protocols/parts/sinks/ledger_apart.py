"""Sinks that keep the ids of finished batches apart from their rows."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more


class Remaining(Enum):
    """What the callback still has to do."""

    NOTHING = "nothing"
    ROWS = "rows"
    LEDGER = "ledger"


class LedgerAfter(Sink):
    """Rows are committed first, the batch's id after them, in two transactions."""

    breaks: ClassVar[tuple[str, ...]] = ("at-most-once", "effectively-once")

    first = Remaining.ROWS
    after_rows = Remaining.LEDGER
    after_ledger = Remaining.NOTHING

    rows = state(0, high=MOST, per=Sink.BATCH)
    ledger = state(False, per=Sink.BATCH)
    due = state(Remaining.NOTHING, per=Sink.BATCH, volatile=True)
    late = state(Remaining.NOTHING, per=Sink.BATCH)

    def start_commit(self, b: Member) -> None:
        """Look the batch up; skip it if its id is there."""
        self.due[b] = if_else(self.ledger[b], Remaining.NOTHING, self.first)

    @action(per=Sink.BATCH)
    def write_rows(self, b: Member) -> None:
        """Commit the rows."""
        when(self.due[b] == Remaining.ROWS)
        self.rows[b] = one_more(self.rows[b])
        self.due[b] = self.after_rows

    @action(per=Sink.BATCH)
    def write_ledger(self, b: Member) -> None:
        """Commit the batch's id."""
        when(self.due[b] == Remaining.LEDGER)
        self.ledger[b] = True
        self.due[b] = self.after_ledger

    def delay(self, b: Member) -> None:
        """Of the two transactions the next one is late."""
        self.late[b] = self.due[b]

    def arrive_late(self, b: Member) -> None:
        """Commit the rows once more, or the batch's id, which is a key."""
        rows = one_more(self.rows[b])
        self.rows[b] = if_else(self.late[b] == Remaining.ROWS, rows, self.rows[b])
        self.ledger[b] = any_of(self.ledger[b], self.late[b] == Remaining.LEDGER)
        self.late[b] = Remaining.NOTHING

    def finished(self, b: Member) -> bool:
        """The callback returns when nothing is due."""
        return self.due[b] == Remaining.NOTHING

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees the rows, whatever the ledger says."""
        return self.rows[b]


class PublishedByKey(LedgerAfter):
    """Rows, then the batch's id; read by key, so that rows there again show once."""

    breaks = ()

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees one row for a key."""
        return min_of(self.rows[b], 1)


class LedgerBefore(LedgerAfter):
    """The batch's id is committed first, its rows after it, in two transactions."""

    breaks = ("at-least-once", "effectively-once", "durable", "recoverable")

    first = Remaining.LEDGER
    after_ledger = Remaining.ROWS
    after_rows = Remaining.NOTHING
