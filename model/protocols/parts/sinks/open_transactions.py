"""Sinks whose transactions have a new id in each run, in a log read in order."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more


class Due(Enum):
    """What the callback still has to do."""

    NOTHING = "nothing"
    ROWS = "rows"
    COMMIT = "commit"


class OpenTransactions(Sink):
    """The batch's id is in the transaction of its rows, whose producer has a new id.

    So nobody ends a transaction that a dead run has left open. Who reads what is
    committed gets nothing beyond it until the log gives it up, which takes longer than
    a restart: neither readers of rows, nor the sink as it looks a batch up. Kafka,
    KIP-98, 2017.
    """

    breaks = ("at-least-once", "effectively-once", "durable", "recoverable")

    open = state(False)
    hides = state(False)
    rows = state(0, high=MOST, per=Sink.BATCH)
    due = state(Due.NOTHING, per=Sink.BATCH, volatile=True)

    def start_commit(self, b: Member) -> None:
        """Look the batch up; skip it if its id can be read."""
        self.due[b] = if_else(self.rows[b] > 0, Due.NOTHING, Due.ROWS)

    @action(per=Sink.BATCH)
    def send_rows(self, b: Member) -> None:
        """Begin a transaction, and send the rows; one that is open hides it."""
        when(self.due[b] == Due.ROWS)
        self.hides = any_of(self.hides, self.open)
        self.open = True
        self.due[b] = Due.COMMIT

    @action(per=Sink.BATCH)
    def commit(self, b: Member) -> None:
        """Commit the rows and the batch's id."""
        when(self.due[b] == Due.COMMIT)
        self.rows[b] = if_else(self.hides, self.rows[b], one_more(self.rows[b]))
        self.open = self.hides
        self.due[b] = Due.NOTHING

    def finished(self, b: Member) -> bool:
        """The callback returns when nothing is due."""
        return self.due[b] == Due.NOTHING

    def visible(self, b: Member, e: Member) -> int:
        """A reader gets the rows before the first transaction that is open."""
        return self.rows[b]
