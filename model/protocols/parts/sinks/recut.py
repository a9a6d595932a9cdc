"""Sinks of a query that may read its source again, cut into other batches."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more


class AppendRecut(Sink):
    """The driver appends a batch's rows in one commit; nothing has a key.

    All events may come in a single batch: what the engine counts as batch 0 then holds
    the events of all batches.
    """

    breaks: ClassVar[tuple[str, ...]] = ("at-most-once", "effectively-once")

    joined = state(False)
    rows = state(0, high=MOST, per=Sink.BATCH)
    due = state(False, per=Sink.BATCH, volatile=True)

    def covers(self, b: Member, c: Member) -> bool:
        """Return whether batch ``b`` of the query holds the events of batch ``c``."""
        return any_of(self.joined, b == c)

    def start_commit(self, b: Member) -> None:
        """The batch is due, whatever the table holds."""
        self.due[b] = True

    @action(per=Sink.BATCH)
    def commit_batch(self, b: Member) -> None:
        """Commit the rows."""
        when(self.due[b])
        self.rows.where(lambda c: self.covers(b, c)).set(
            lambda c: one_more(self.rows[c])
        )
        self.due[b] = False

    def finished(self, b: Member) -> bool:
        """The callback returns when nothing is due."""
        return not_(self.due[b])

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees every row."""
        return self.rows[b]


class UpsertRecut(AppendRecut):
    """The driver writes a batch's rows by key in one commit: a repeat changes nothing.

    The key is the event's, so it does not matter which batch holds it.
    """

    breaks = ()

    @action(per=Sink.BATCH)
    def commit_batch(self, b: Member) -> None:
        """Commit the rows whose keys are not there."""
        when(self.due[b])
        self.rows.where(lambda c: self.covers(b, c)).fill(1)
        self.due[b] = False


class BatchLedgerRecut(AppendRecut):
    """One transaction writes a batch's rows and id; a batch with an id is skipped.

    The id is the query's number of the batch. It names the same events only as long
    as the query keeps its checkpoint.
    """

    breaks = ()

    ledger = state(False, per=Sink.BATCH)

    def start_commit(self, b: Member) -> None:
        """Look the batch up; it is due if its id is not there."""
        self.due[b] = not_(self.ledger[b])

    @action(per=Sink.BATCH)
    def commit_batch(self, b: Member) -> None:
        """Commit the rows and the id."""
        when(self.due[b])
        self.rows.where(lambda c: self.covers(b, c)).set(
            lambda c: one_more(self.rows[c])
        )
        self.ledger[b] = True
        self.due[b] = False
