"""A protocol with records in state, and the same with a field for each part by hand."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    at_rest,
    fault,
    if_else,
    implies,
    nobody,
    nobody_of,
    state,
    step,
    when,
)


class Kind(Enum):
    """What became of a row."""

    FREE = "free"
    HELD = "held"


class Lease(NamedTuple):
    """Who holds a row, and since which epoch."""

    kind: Kind
    epoch: int
    owner: Member


FREE = Lease(Kind.FREE, 0, nobody)


class Leases(Protocol):
    """Leases of rows by workers, and the lease that was noted last."""

    ROW = Sort("row")
    W = Sort("worker")

    lease = state(Lease(Kind.FREE, 0, nobody_of(W)), per=ROW, high={"epoch": 2})
    last = state(Lease(Kind.FREE, 0, nobody_of(W)), high=2, volatile=True)

    @action(per=(ROW, W))
    def take(self, r: Member, w: Member) -> None:
        """Take a row that is free."""
        when(self.lease[r].kind == Kind.FREE, self.lease[r].epoch < 2)
        self.lease[r] = Lease(Kind.HELD, self.lease[r].epoch + 1, w)

    @action(per=ROW)
    def release(self, r: Member) -> None:
        """Release a row that is not noted as it is."""
        when(self.lease[r] != self.last, self.lease[r].kind == Kind.HELD)
        self.lease[r] = self.lease[r]._replace(kind=Kind.FREE)

    @action(per=ROW)
    def note(self, r: Member) -> None:
        """Note a lease that was taken, unless it is older."""
        when(self.lease[r] != FREE)
        older = self.lease[r].epoch < self.last.epoch
        self.last = if_else(older, self.last, self.lease[r])

    @action
    def copy_kinds(self) -> None:
        """Every row is as the last is, and what is held is no longer owned."""
        when(self.last.epoch == 2)
        self.lease.set(
            lambda r: Lease(
                if_else(self.lease[r].owner == nobody, self.last.kind, Kind.FREE),
                self.lease[r].epoch,
                if_else(self.lease[r].kind == Kind.HELD, nobody, self.lease[r].owner),
            )
        )

    @fault(at_most=1)
    def lose(self) -> None:
        """What was noted is lost, and rows like it are free again."""
        self.lease.where(lambda r: self.lease[r] == self.last).fill(FREE)
        self.lose_volatile()

    @always
    def differ(self) -> bool:
        """No two rows are held alike."""
        return all_of(
            any_of(
                r == s,
                self.lease[r].kind == Kind.FREE,
                self.lease[r] != self.lease[s],
            )
            for r in self.ROW
            for s in self.ROW
        )

    @always(per=ROW)
    def has_begun(self, r: Member) -> bool:
        """What is owned was taken."""
        return implies(self.lease[r].owner != nobody, self.lease[r].epoch > 0)

    @step(per=ROW)
    def grows(self, r: Member, after: Leases) -> bool:
        """An epoch does not go back."""
        return self.lease[r].epoch <= after.lease[r].epoch

    @at_rest
    def is_noted(self) -> bool:
        """At rest what was noted is free, or is the lease of a row."""
        return any_of(
            self.last.kind == Kind.FREE,
            any_of(self.last == self.lease[r] for r in self.ROW),
        )


class LeasesByHand(Protocol):
    """The same with a field for each part, and each comparison written out."""

    ROW = Leases.ROW
    W = Leases.W

    kind = state(Kind.FREE, per=ROW)
    epoch = state(0, per=ROW, high=2)
    owner = state(nobody_of(W), per=ROW)
    last_kind = state(Kind.FREE, volatile=True)
    last_epoch = state(0, high=2, volatile=True)
    last_owner = state(nobody_of(W), volatile=True)

    def is_last(self, r: Member) -> bool:
        """Return whether a row is as what was noted last."""
        return all_of(
            self.kind[r] == self.last_kind,
            self.epoch[r] == self.last_epoch,
            self.owner[r] == self.last_owner,
        )

    @action(per=(ROW, W))
    def take(self, r: Member, w: Member) -> None:
        """Take a row that is free."""
        when(self.kind[r] == Kind.FREE, self.epoch[r] < 2)
        self.kind[r] = Kind.HELD
        self.epoch[r] = self.epoch[r] + 1
        self.owner[r] = w

    @action(per=ROW)
    def release(self, r: Member) -> None:
        """Release a row that is not noted as it is."""
        when(self.kind[r] == Kind.HELD)
        when(
            any_of(
                self.kind[r] != self.last_kind,
                self.epoch[r] != self.last_epoch,
                self.owner[r] != self.last_owner,
            )
        )
        self.kind[r] = Kind.FREE

    @action(per=ROW)
    def note(self, r: Member) -> None:
        """Note a lease that was taken, unless it is older."""
        when(any_of(self.epoch[r] > 0, self.kind[r] == Kind.HELD))
        older = self.epoch[r] < self.last_epoch
        self.last_kind = if_else(older, self.last_kind, self.kind[r])
        self.last_epoch = if_else(older, self.last_epoch, self.epoch[r])
        self.last_owner = if_else(older, self.last_owner, self.owner[r])

    @action
    def copy_kinds(self) -> None:
        """Every row is as the last is, and what is held is no longer owned."""
        when(self.last_epoch == 2)
        kinds = [self.kind[Member(i, LeasesByHand.ROW)] for i in range(len(self.ROW))]
        owners = [self.owner[Member(i, LeasesByHand.ROW)] for i in range(len(self.ROW))]
        for i, (kind, owner) in enumerate(zip(kinds, owners, strict=True)):
            r = Member(i, LeasesByHand.ROW)
            self.kind[r] = if_else(owner == nobody, self.last_kind, Kind.FREE)
            self.owner[r] = if_else(kind == Kind.HELD, nobody, owner)

    @fault(at_most=1)
    def lose(self) -> None:
        """What was noted is lost, and rows like it are free again."""
        kinds = [self.is_last(Member(i, self.ROW.sort)) for i in range(len(self.ROW))]
        for i, alike in enumerate(kinds):
            r = Member(i, LeasesByHand.ROW)
            self.kind[r] = if_else(alike, Kind.FREE, self.kind[r])
            self.epoch[r] = if_else(alike, 0, self.epoch[r])
            self.owner[r] = if_else(alike, nobody, self.owner[r])
        self.lose_volatile()
