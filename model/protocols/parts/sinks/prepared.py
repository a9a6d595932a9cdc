"""Sinks whose tasks prepare transactions that the driver commits: two-phase commit."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import (
    Member,
    action,
    all_of,
    any_of,
    if_else,
    not_,
    state,
    when,
)
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more


class Prepared(Sink):
    """Tasks prepare; ``commit`` decides which transactions count, and commits each.

    The decision is durable, and made once for a batch: a driver that finds it commits
    what the first one decided, and rolls back what was prepared since. Gray and
    Lamport, Consensus on Transaction Commit, 2006, with the database as participant.
    """

    breaks: ClassVar[tuple[str, ...]] = ("atomic-visibility",)

    decided = state(False, per=Sink.BATCH)
    rows = state(False, per=(Sink.BATCH, Sink.PARTITION))
    undecided = state(False, per=Sink.BATCH, volatile=True)
    due = state(False, per=(Sink.BATCH, Sink.PARTITION), volatile=True)

    @property
    def aborts(self) -> bool:
        """A failed commit is followed by ``abort``: what is decided stays."""
        return True

    def start_commit(self, b: Member) -> None:
        """Look whether the batch is decided; what is decided is due."""
        self.undecided[b] = not_(self.decided[b])
        self.due.set(
            lambda c, p: if_else(
                c == b, all_of(self.decided[c], not_(self.rows[c, p])), self.due[c, p]
            )
        )

    @action(per=Sink.BATCH)
    def decide(self, b: Member) -> None:
        """Write down which prepared transactions make up the batch."""
        when(self.undecided[b])
        self.undecided[b] = False
        self.decided[b] = True
        self.due.set(lambda c, p: any_of(self.due[c, p], c == b))

    @action(per=(Sink.BATCH, Sink.PARTITION))
    def commit_prepared(self, b: Member, p: Member) -> None:
        """Commit one of the transactions."""
        when(self.due[b, p])
        self.due[b, p] = False
        self.rows.set(
            lambda c, e: any_of(self.rows[c, e], all_of(c == b, self.holds(p, e)))
        )

    def finished(self, b: Member) -> bool:
        """``commit`` returns when nothing is due."""
        return all_of(
            not_(self.undecided[b]),
            all_of(not_(self.due[b, p]) for p in self.PARTITION),
        )

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees what is committed."""
        return if_else(self.rows[b, e], 1, 0)


class PreparedUnknown(Prepared):
    """Transactions have new ids in each run, and the decision does not name them.

    A driver that finds a batch decided cannot find the transactions that it is made of,
    and takes it for committed.
    """

    breaks = (
        "at-least-once",
        "effectively-once",
        "atomic-visibility",
        "durable",
        "recoverable",
        "agreement",
    )

    def start_commit(self, b: Member) -> None:
        """Look whether the batch is decided; nothing is due if it is."""
        self.undecided[b] = not_(self.decided[b])


class PreparedInStore(Prepared):
    """A retry commits what the store still holds of what is decided.

    A driver that commits a transaction, and finds none, takes it for committed. That is
    right for as long as nobody rolls back what is decided.
    """

    prepared = state(False, per=(Sink.BATCH, Sink.PARTITION))

    @action(per=Sink.BATCH)
    def decide(self, b: Member) -> None:
        """Write down which transactions make up the batch: these are prepared."""
        super().decide(b)
        self.prepared.where(lambda c, _: c == b).fill(value=True)

    @action(per=(Sink.BATCH, Sink.PARTITION))
    def commit_prepared(self, b: Member, p: Member) -> None:
        """Commit one of the transactions, if it is there."""
        when(self.due[b, p])
        self.due[b, p] = False
        self.rows.set(
            lambda c, e: any_of(
                self.rows[c, e],
                all_of(c == b, self.holds(p, e), self.prepared[b, p]),
            )
        )
        self.prepared[b, p] = False

    def roll_back(self, b: Member) -> None:
        """Roll back what is prepared for the batch, decided or not."""
        self.prepared.where(lambda c, _: c == b).fill(value=False)


class PreparedAborted(PreparedInStore):
    """``abort`` rolls back what the failed commit has decided already."""

    breaks = PreparedUnknown.breaks

    def abort(self, b: Member) -> None:
        """Roll back, and do not ask for the decision."""
        self.roll_back(b)


class PreparedExpired(PreparedInStore):
    """A clean-up rolls back what an earlier run left prepared, decided or not."""

    breaks = PreparedUnknown.breaks

    def start_commit(self, b: Member) -> None:
        """What an earlier run left is gone, whatever is decided."""
        self.roll_back(b)
        super().start_commit(b)


class PreparedUndecided(Sink):
    """Tasks prepare; ``commit`` commits each transaction, and writes no decision.

    A driver that starts again does not know which of them were committed.
    """

    breaks = ("at-most-once", "effectively-once", "atomic-visibility")

    rows = state(0, high=MOST, per=(Sink.BATCH, Sink.PARTITION))
    due = state(False, per=(Sink.BATCH, Sink.PARTITION), volatile=True)

    @property
    def aborts(self) -> bool:
        """A failed commit is followed by ``abort``: what is committed stays."""
        return True

    def start_commit(self, b: Member) -> None:
        """Every partition's transaction is due."""
        self.due.set(lambda c, p: any_of(self.due[c, p], c == b))

    @action(per=(Sink.BATCH, Sink.PARTITION))
    def commit_prepared(self, b: Member, p: Member) -> None:
        """Commit one of the transactions."""
        when(self.due[b, p])
        self.due[b, p] = False
        self.rows.set(
            lambda c, e: if_else(
                all_of(c == b, self.holds(p, e)),
                one_more(self.rows[c, e]),
                self.rows[c, e],
            )
        )

    def finished(self, b: Member) -> bool:
        """``commit`` returns when nothing is due."""
        return all_of(not_(self.due[b, p]) for p in self.PARTITION)

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees every row."""
        return self.rows[b, e]
