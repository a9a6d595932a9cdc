"""Paxos Commit: Gray and Lamport, 2006."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    if_else,
    implies,
    not_,
    state,
    when,
)


class Rm(Enum):
    """How a resource manager stands."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Value(Enum):
    """What an acceptor may have accepted."""

    NONE = "none"
    PREPARED = "prepared"
    ABORTED = "aborted"


class Promise(Enum):
    """A message of phase 1b of ballot 1: what the acceptor had accepted before."""

    UNSENT = "unsent"
    NONE = "none"
    PREPARED = "prepared"
    ABORTED = "aborted"


class PaxosCommit(Protocol):
    """A consensus for each vote. Gray and Lamport, Consensus on Transaction Commit.

    ACM TODS 31(1), 2006. Ballots are 0 and 1. The set of messages ever sent is a field
    for each kind of message: since an acceptor promises once, and each ballot of an
    instance has one value, one field holds one message. Of three acceptors a majority
    is all but one. What an acceptor last accepted follows from what it sent, and is
    kept all the same, as there.
    """

    RM = Sort("resource manager", size=2)
    ACC = Sort("acceptor", size=3)
    B = Sort("ballot", size=2, ordered=True)

    rm = state(Rm.WORKING, per=RM)
    promised = state(0, high=1, per=(RM, ACC))
    accepted_in = state(-1, low=-1, high=1, per=(RM, ACC))
    accepted = state(Value.NONE, per=(RM, ACC))
    asked = state(False, per=RM)
    promise = state(Promise.UNSENT, per=(RM, ACC))
    proposal = state(Value.NONE, per=(RM, B))
    acceptance = state(Value.NONE, per=(RM, ACC, B))
    commit = state(False)
    abort = state(False)

    @action(per=RM)
    def prepare(self, r: Member) -> None:
        """A resource manager proposes in ballot 0 that it is prepared."""
        when(self.rm[r] == Rm.WORKING)
        self.rm[r] = Rm.PREPARED
        self.proposal[r, 0] = Value.PREPARED

    @action(per=RM)
    def choose_to_abort(self, r: Member) -> None:
        """A resource manager proposes in ballot 0 that it has aborted."""
        when(self.rm[r] == Rm.WORKING)
        self.rm[r] = Rm.ABORTED
        self.proposal[r, 0] = Value.ABORTED

    @action(per=RM)
    def learn_commit(self, r: Member) -> None:
        """A resource manager is told to commit."""
        when(self.commit)
        self.rm[r] = Rm.COMMITTED

    @action(per=RM)
    def learn_abort(self, r: Member) -> None:
        """A resource manager is told to abort."""
        when(self.abort)
        self.rm[r] = Rm.ABORTED

    @action(per=RM)
    def phase1a(self, r: Member) -> None:
        """A leader begins ballot 1."""
        when(any_of(self.asked[r], not_(self.asked[r])))
        self.asked[r] = True

    @action(per=(RM, ACC))
    def phase1b(self, r: Member, a: Member) -> None:
        """An acceptor promises, and tells what it has accepted."""
        when(self.asked[r], self.promised[r, a] < 1)
        self.promised[r, a] = 1
        self.promise[r, a] = if_else(
            self.accepted[r, a] == Value.NONE,
            Promise.NONE,
            if_else(
                self.accepted[r, a] == Value.PREPARED,
                Promise.PREPARED,
                Promise.ABORTED,
            ),
        )

    @action(per=(RM, ACC))
    def phase2a(self, r: Member, left_out: Member) -> None:
        """The leader proposes what a majority allows: all but one acceptor."""
        when(
            self.proposal[r, 1] == Value.NONE,
            all_of(
                implies(a != left_out, self.promise[r, a] != Promise.UNSENT)
                for a in self.ACC
            ),
        )
        self.proposal[r, 1] = if_else(
            any_of(
                all_of(a != left_out, self.promise[r, a] == Promise.PREPARED)
                for a in self.ACC
            ),
            Value.PREPARED,
            Value.ABORTED,
        )

    @action(per=(RM, ACC, B))
    def phase2b(self, r: Member, a: Member, b: Member) -> None:
        """An acceptor accepts what is proposed."""
        when(self.proposal[r, b] != Value.NONE, self.promised[r, a] <= b)
        self.promised[r, a] = b
        self.accepted_in[r, a] = b
        self.accepted[r, a] = self.proposal[r, b]
        self.acceptance[r, a, b] = self.proposal[r, b]

    def decided(self, r: Member, b: Member, value: Value) -> bool:
        """Whether a majority has accepted a value in a ballot."""
        return any_of(
            all_of(
                implies(a != left_out, self.acceptance[r, a, b] == value)
                for a in self.ACC
            )
            for left_out in self.ACC
        )

    @action
    def decide_commit(self) -> None:
        """Every instance has chosen prepared."""
        when(
            all_of(
                any_of(self.decided(r, b, Value.PREPARED) for b in self.B)
                for r in self.RM
            )
        )
        self.commit = True

    @action
    def decide_abort(self) -> None:
        """Some instance has chosen aborted."""
        when(any_of(self.decided(r, b, Value.ABORTED) for r in self.RM for b in self.B))
        self.abort = True

    @always
    def is_consistent(self) -> bool:
        """No two resource managers decide differently."""
        return all_of(
            not_(all_of(self.rm[a] == Rm.ABORTED, self.rm[b] == Rm.COMMITTED))
            for a in self.RM
            for b in self.RM
        )
