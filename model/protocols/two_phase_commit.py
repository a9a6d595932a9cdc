"""Two-phase commit among resource managers."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import *
from onceproof.model.protocols.transaction_commit import Rm


class Tm(Enum):
    """What the transaction manager has decided."""

    INIT = "init"
    COMMITTED = "committed"
    ABORTED = "aborted"


class TwoPhaseCommit(Protocol):
    """Atomic commit by a transaction manager. Gray and Lamport, 2006.

    Consensus on Transaction Commit, ACM TODS 31(1). Messages are never lost: the
    set of messages sent only grows, and a message may be received again. The
    managers' own prepared messages double as the record of their vote.
    """

    role = "transaction manager"

    RM = Sort("resource manager", size=3)

    rm = state(Rm.WORKING, per=RM)
    tm = state(Tm.INIT)
    prepared_seen = state(False, per=RM)
    prepared_sent = state(False, per=RM)
    commit_sent = state(False)
    abort_sent = state(False)

    @action(per=RM, by="transaction manager")
    def tm_rcv_prepared(self, r: Member) -> None:
        """The manager receives a participant's vote."""
        when(self.tm == Tm.INIT, self.prepared_sent[r])
        self.prepared_seen[r] = True

    @action
    def tm_commit(self) -> None:
        """The manager decides once every participant has voted yes."""
        when(self.tm == Tm.INIT, all_of(self.prepared_seen[r] for r in self.RM))
        self.tm = Tm.COMMITTED
        self.commit_sent = True

    @action
    def tm_abort(self) -> None:
        """The manager gives up of its own accord."""
        when(self.tm == Tm.INIT)
        self.tm = Tm.ABORTED
        self.abort_sent = True

    @action(per=RM)
    def rm_prepare(self, r: Member) -> None:
        """A participant votes yes."""
        when(self.rm[r] == Rm.WORKING)
        self.rm[r] = Rm.PREPARED
        self.prepared_sent[r] = True

    @action(per=RM)
    def rm_choose_to_abort(self, r: Member) -> None:
        """A participant that has not voted gives up."""
        when(self.rm[r] == Rm.WORKING)
        self.rm[r] = Rm.ABORTED

    @action(per=RM)
    def rm_rcv_commit(self, r: Member) -> None:
        """A participant learns that the transaction is committed."""
        when(self.commit_sent)
        self.rm[r] = Rm.COMMITTED

    @action(per=RM)
    def rm_rcv_abort(self, r: Member) -> None:
        """A participant learns that the transaction is aborted."""
        when(self.abort_sent)
        self.rm[r] = Rm.ABORTED

    @observe(per=RM)
    def visible(self, r: Member) -> bool:
        """A participant's share takes effect when it commits."""
        return self.rm[r] == Rm.COMMITTED

    @observe(per=RM)
    def rejected(self, r: Member) -> bool:
        """A participant's share is given up when it aborts."""
        return self.rm[r] == Rm.ABORTED

    @sometimes
    def all_commit(self) -> bool:
        """The transaction can be committed everywhere."""
        return all_of(self.rm[r] == Rm.COMMITTED for r in self.RM)

    @sometimes
    def all_abort(self) -> bool:
        """The transaction can be aborted everywhere."""
        return all_of(self.rm[r] == Rm.ABORTED for r in self.RM)

    @lemma
    def one_decision(self) -> bool:
        """The manager never sends both decisions."""
        return not_(self.commit_sent & self.abort_sent)

    @lemma
    def undecided_says_nothing(self) -> bool:
        """An undecided manager has sent no decision."""
        return implies(
            self.tm == Tm.INIT, not_(self.commit_sent) & not_(self.abort_sent)
        )

    @lemma
    def seen_was_sent(self) -> bool:
        """A vote that was seen had been sent."""
        return all_of(
            implies(self.prepared_seen[r], self.prepared_sent[r]) for r in self.RM
        )

    @lemma
    def voters_have_left_working(self) -> bool:
        """A participant that has voted no longer works."""
        return all_of(
            implies(self.prepared_sent[r], self.rm[r] != Rm.WORKING) for r in self.RM
        )

    @lemma
    def commit_was_decided(self) -> bool:
        """A participant commits only after the decision to commit."""
        return all_of(
            implies(self.rm[r] == Rm.COMMITTED, self.commit_sent) for r in self.RM
        )

    @lemma
    def commit_needs_all_votes(self) -> bool:
        """The decision to commit follows every vote."""
        return implies(self.commit_sent, all_of(self.prepared_sent[r] for r in self.RM))

    @lemma
    def aborted_had_cause(self) -> bool:
        """A participant aborts after the decision to abort, or before it votes."""
        return all_of(
            implies(
                self.rm[r] == Rm.ABORTED,
                self.abort_sent | not_(self.prepared_sent[r]),
            )
            for r in self.RM
        )
