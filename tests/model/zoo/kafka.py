"""Violations of producers, transactions and their logs."""

from __future__ import annotations

from onceproof.model.language import Member, if_else, part, state
from onceproof.model.protocols.idempotent_producer import IdempotentProducer
from onceproof.model.protocols.parts.transactions.coordinators import (
    EPOCH,
    Stage,
    TransactionCoordinator,
)
from onceproof.model.protocols.parts.transactions.local_stores import Store
from onceproof.model.protocols.parts.transactions.output_logs import OutputLog
from onceproof.model.protocols.parts.transactions.sequences import Sequence
from onceproof.model.protocols.transactions import Transactions


class RecordedFirst(Sequence):
    """Records a number before the message is written."""

    def accept(self, m: Member, epoch: int) -> None:
        """Know the message already."""
        self.note(m, epoch)

    def persist(self, m: Member, epoch: int) -> None:
        """Know nothing new."""


class Pulsar5218(IdempotentProducer):
    """A number is recorded although the write of its message fails."""

    sequence = part(Sequence, default=RecordedFirst)


class KnowsTheNextAlone(Sequence):
    """Takes a message that it has for one out of order."""

    def repeats(self, m: Member, epoch: int) -> bool:
        """Recognise nothing but what is of an old epoch."""
        return epoch < self.known.epoch


class Redpanda3039(IdempotentProducer):
    """A retry is out of order, and the producer begins a new epoch."""

    sequence = part(Sequence, default=KnowsTheNextAlone)


class UnfencedExpiry(TransactionCoordinator):
    """Ends a transaction that takes too long under the same epoch."""

    def expire(self) -> None:
        """Tell nobody."""
        self.phase = Stage.ABORTING


class Kafka6119(Transactions):
    """A producer does not notice that its transaction was ended."""

    coordinator = part(TransactionCoordinator, default=UnfencedExpiry)


class EpochOfTheProducer(TransactionCoordinator):
    """Keeps the epoch of a producer from one transaction to the next."""

    def abort(self) -> None:
        """Go on under the same epoch."""
        self.phase = Stage.ABORTING

    def end(self) -> None:
        """Go on under the same epoch."""
        self.phase = Stage.EMPTY


class Unverified(OutputLog):
    """Does not ask whether a transaction is open."""

    def admits(self, epoch: int, current: int, phase: Stage) -> bool:
        """Let in who is not fenced."""
        return epoch == current


class Kip890Hanging(Transactions):
    """A record is let in while no transaction is open."""

    coordinator = part(TransactionCoordinator, default=EpochOfTheProducer)
    log = part(OutputLog, default=Unverified)


class Kip890Late(Transactions):
    """A record is let in when the next transaction is open."""

    coordinator = part(TransactionCoordinator, default=EpochOfTheProducer)


class NumbersOutliveTheirTransaction(OutputLog):
    """Drops a record whose number it has under that epoch, in whatever transaction."""

    under = state(0, high=EPOCH, per=OutputLog.E)

    def write(self, e: Member, epoch: int, times: int) -> None:
        """Write the record unless its number is known."""
        known = self.under[e] == epoch
        super().write(e, epoch, if_else(known, 0, times))
        self.under[e] = epoch


class Redpanda5026(Transactions):
    """A number that an aborted transaction used is taken for known."""

    coordinator = part(TransactionCoordinator, default=EpochOfTheProducer)
    log = part(OutputLog, default=NumbersOutliveTheirTransaction)


class KeptCheckpoint(Store):
    """Leaves the checkpoint file where it is."""

    def run(self) -> None:
        """Leave it there while the state moves on."""


class Kafka20685(Transactions):
    """The checkpoint file is there while the producer runs."""

    local = part(Store, default=KeptCheckpoint)


class Forgetful(TransactionCoordinator):
    """Removes what it knows of a transaction as soon as it is committed."""

    def remembers(self, epoch: int) -> bool:
        """Know of none."""
        return epoch < 0


class Pulsar19629(Transactions):
    """The coordinator does not know a transaction that it committed."""

    coordinator = part(TransactionCoordinator, default=Forgetful)
