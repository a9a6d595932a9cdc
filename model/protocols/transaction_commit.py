"""Transaction commit: what every atomic commit protocol implements."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import *


class Rm(Enum):
    """What a resource manager has done."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class TransactionCommit(Protocol):
    """The specification of atomic commit. Gray and Lamport, 2006.

    Consensus on Transaction Commit, ACM TODS 31(1). There are no messages: a
    resource manager looks at all others as it decides.
    """

    RM = Sort("resource manager", size=3)

    rm = state(Rm.WORKING, per=RM)

    @action(per=RM)
    def prepare(self, r: Member) -> None:
        """A resource manager is ready to commit."""
        when(self.rm[r] == Rm.WORKING)
        self.rm[r] = Rm.PREPARED

    @action(per=RM)
    def decide_commit(self, r: Member) -> None:
        """A prepared one commits when all are prepared or committed."""
        when(
            self.rm[r] == Rm.PREPARED,
            all_of(
                any_of(self.rm[s] == Rm.PREPARED, self.rm[s] == Rm.COMMITTED)
                for s in self.RM
            ),
        )
        self.rm[r] = Rm.COMMITTED

    @action(per=RM)
    def decide_abort(self, r: Member) -> None:
        """One that has not decided aborts when none has committed."""
        when(
            any_of(self.rm[r] == Rm.WORKING, self.rm[r] == Rm.PREPARED),
            all_of(self.rm[s] != Rm.COMMITTED for s in self.RM),
        )
        self.rm[r] = Rm.ABORTED

    @observe(per=RM)
    def visible(self, r: Member) -> bool:
        """A share takes effect when it commits."""
        return self.rm[r] == Rm.COMMITTED

    @observe(per=RM)
    def rejected(self, r: Member) -> bool:
        """A share is given up when it aborts."""
        return self.rm[r] == Rm.ABORTED

    @sometimes
    def all_commit(self) -> bool:
        """All can commit."""
        return all_of(self.rm[r] == Rm.COMMITTED for r in self.RM)

    @sometimes
    def all_abort(self) -> bool:
        """All can abort."""
        return all_of(self.rm[r] == Rm.ABORTED for r in self.RM)

    @lemma
    def commit_excludes_work(self) -> bool:
        """Once one has committed, all are prepared or committed."""
        return all_of(
            any_of(
                self.rm[r] != Rm.COMMITTED,
                self.rm[s] == Rm.PREPARED,
                self.rm[s] == Rm.COMMITTED,
            )
            for r in self.RM
            for s in self.RM
        )
