"""Two-phase commit with a backup for the manager: Demirbas, 2017."""

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
    FAILED = "failed"


class Told(Enum):
    """What is to be seen of the decision."""

    INIT = "init"
    COMMIT = "commit"
    ABORT = "abort"
    HIDDEN = "hidden"


class At(Enum):
    """Where a manager is in its program."""

    WAIT = "wait"
    COMMIT = "commit"
    ABORT = "abort"
    HIDE = "hide"
    HIDE_ABORT = "hide abort"
    DONE = "done"


class BackupManager(Protocol):
    """A manager that hides, and a backup that takes over. Demirbas, 2PCwithBTM, 2017.

    Where a process is in its program is state, as PlusCal's labels are. One resource
    manager may fail. PlusCal's last step, by which what has ended stutters, is no
    action here.
    """

    RM = Sort("resource manager", size=3)

    rm = state(Rm.WORKING, per=RM)
    done = state(False, per=RM)
    told = state(Told.INIT)
    manager = state(At.WAIT)
    backup = state(At.WAIT)

    def runs(self, r: Member) -> bool:
        """Whether a resource manager is still in its loop."""
        return all_of(
            not_(self.done[r]),
            any_of(self.rm[r] == Rm.WORKING, self.rm[r] == Rm.PREPARED),
        )

    @action(per=RM)
    def prepare(self, r: Member) -> None:
        """A resource manager prepares."""
        when(self.runs(r), self.rm[r] == Rm.WORKING)
        self.rm[r] = Rm.PREPARED

    @action(per=RM)
    def commit(self, r: Member) -> None:
        """A resource manager sees that it is to commit."""
        when(self.runs(r), self.told == Told.COMMIT)
        self.rm[r] = Rm.COMMITTED

    @action(per=RM)
    def abort(self, r: Member) -> None:
        """A resource manager aborts."""
        when(self.runs(r), any_of(self.rm[r] == Rm.WORKING, self.told == Told.ABORT))
        self.rm[r] = Rm.ABORTED

    @action(per=RM)
    def fail(self, r: Member) -> None:
        """A resource manager fails, if none has."""
        when(self.runs(r), all_of(self.rm[x] != Rm.FAILED for x in self.RM))
        self.rm[r] = Rm.FAILED

    @action(per=RM)
    def skip(self, r: Member) -> None:
        """A resource manager does not fail, since another has."""
        when(self.runs(r), any_of(self.rm[x] == Rm.FAILED for x in self.RM))
        self.rm[r] = self.rm[r]

    @action(per=RM)
    def end(self, r: Member) -> None:
        """A resource manager leaves its loop."""
        when(not_(self.done[r]), not_(self.runs(r)))
        self.done[r] = True

    def can_commit(self) -> bool:
        """Whether all are prepared, or one has committed."""
        return any_of(
            all_of(self.rm[r] == Rm.PREPARED for r in self.RM),
            any_of(self.rm[r] == Rm.COMMITTED for r in self.RM),
        )

    def can_abort(self) -> bool:
        """Whether one has aborted or failed, and none has committed."""
        return all_of(
            any_of(
                any_of(self.rm[r] == Rm.ABORTED, self.rm[r] == Rm.FAILED)
                for r in self.RM
            ),
            all_of(self.rm[r] != Rm.COMMITTED for r in self.RM),
        )

    @action
    def manager_sees_commit(self) -> None:
        """The manager sees that it can commit."""
        when(self.manager == At.WAIT, self.can_commit())
        self.manager = At.COMMIT

    @action
    def manager_sees_abort(self) -> None:
        """The manager sees that it can abort."""
        when(self.manager == At.WAIT, self.can_abort())
        self.manager = At.ABORT

    @action
    def manager_commits(self) -> None:
        """The manager tells all to commit."""
        when(self.manager == At.COMMIT)
        self.told = Told.COMMIT
        self.manager = At.HIDE

    @action
    def manager_aborts(self) -> None:
        """The manager tells all to abort."""
        when(self.manager == At.ABORT)
        self.told = Told.ABORT
        self.manager = At.HIDE_ABORT

    @action
    def manager_fails(self) -> None:
        """The manager fails, and what it told is seen no more."""
        when(any_of(self.manager == At.HIDE, self.manager == At.HIDE_ABORT))
        self.told = Told.HIDDEN
        self.manager = At.DONE

    @action
    def backup_sees_commit(self) -> None:
        """The backup sees that the manager is gone, and that it can commit."""
        when(self.backup == At.WAIT, self.told == Told.HIDDEN, self.can_commit())
        self.backup = At.COMMIT

    @action
    def backup_sees_abort(self) -> None:
        """The backup sees that the manager is gone, and that it can abort."""
        when(self.backup == At.WAIT, self.told == Told.HIDDEN, self.can_abort())
        self.backup = At.ABORT

    @action
    def backup_commits(self) -> None:
        """The backup tells all to commit."""
        when(self.backup == At.COMMIT)
        self.told = Told.COMMIT
        self.backup = At.DONE

    @action
    def backup_aborts(self) -> None:
        """The backup tells all to abort."""
        when(self.backup == At.ABORT)
        self.told = Told.ABORT
        self.backup = At.DONE

    @always
    def is_consistent(self) -> bool:
        """No two resource managers decide differently."""
        return all_of(
            not_(all_of(self.rm[a] == Rm.ABORTED, self.rm[b] == Rm.COMMITTED))
            for a in self.RM
            for b in self.RM
        )
