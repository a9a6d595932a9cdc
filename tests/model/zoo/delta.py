"""Violations of sinks that skip a batch by a number in the log of a table."""

from __future__ import annotations

from onceproof.model.language import (
    Member,
    action,
    any_of,
    if_else,
    max_of,
    not_,
    part,
    state,
    when,
)
from onceproof.model.protocols.micro_batch_new_checkpoint import (
    MicroBatchNewCheckpoint,
)
from onceproof.model.protocols.parts.sinks.recut import AppendRecut
from onceproof.model.protocols.parts.sinks.sink import Sink, one_more


class LastVersion(AppendRecut):
    """Keeps the last batch number under the query's id, and skips what is not newer."""

    last = state(0, high=Sink.BATCH)

    def start_commit(self, b: Member) -> None:
        """The batch is due if its number is beyond the last one."""
        self.due[b] = b >= self.last

    @action(per=Sink.BATCH)
    def commit_batch(self, b: Member) -> None:
        """Commit the rows and the number."""
        when(self.due[b])
        self.rows.where(lambda c: self.covers(b, c)).set(
            lambda c: one_more(self.rows[c])
        )
        self.note(b)
        self.due[b] = False

    def note(self, b: Member) -> None:
        """Keep the number, with the rows."""
        self.last = max_of(self.last, b + 1)


class DeltaOldId(MicroBatchNewCheckpoint):
    """The checkpoint is deleted, and the query keeps its txnAppId."""

    sink = part(AppendRecut, default=LastVersion)


class LastVersionOfNewId(LastVersion):
    """Keeps a number for each id; there is none yet under that of a new checkpoint."""

    renewed = state(False)

    def start_commit(self, b: Member) -> None:
        """The first batch of a new id is due."""
        self.due[b] = any_of(b >= self.last, self.joined & not_(self.renewed))

    def note(self, b: Member) -> None:
        """Keep the number, with the rows and the id."""
        first = self.joined & not_(self.renewed)
        self.last = if_else(first, b + 1, max_of(self.last, b + 1))
        self.renewed = self.joined


class DeltaNewId(MicroBatchNewCheckpoint):
    """The checkpoint is deleted, and the query takes another txnAppId."""

    sink = part(AppendRecut, default=LastVersionOfNewId)
