"""Violations of producers, transactions and their logs."""

from __future__ import annotations

from onceproof.model.language import Member, if_else, part, state
from onceproof.model.protocols.idempotent_producer import IdempotentProducer
from onceproof.model.protocols.parts.transactions.coordinators import (
    EPOCH,
    EpochOfTheProducer,
    ForgetsCommits,
    TransactionCoordinator,
    UnfencedExpiry,
)
from onceproof.model.protocols.parts.transactions.local_stores import (
    KeptCheckpoint,
    Store,
)
from onceproof.model.protocols.parts.transactions.output_logs import (
    OutputLog,
    Unverified,
)
from onceproof.model.protocols.parts.transactions.sequences import (
    KnowsTheNextAlone,
    RecordedFirst,
    Sequence,
)
from onceproof.model.protocols.transactions import Transactions


class Pulsar5218(IdempotentProducer):
    """A number is recorded although the write of its message fails."""

    sequence = part(Sequence, default=RecordedFirst)


class Redpanda3039(IdempotentProducer):
    """A retry is out of order, and the producer begins a new epoch."""

    sequence = part(Sequence, default=KnowsTheNextAlone)


class Kafka6119(Transactions):
    """A producer does not notice that its transaction was ended."""

    coordinator = part(TransactionCoordinator, default=UnfencedExpiry)


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


class Kafka20685(Transactions):
    """The checkpoint file is there while the producer runs."""

    local = part(Store, default=KeptCheckpoint)


class Pulsar19629(Transactions):
    """The coordinator does not know a transaction that it committed."""

    coordinator = part(TransactionCoordinator, default=ForgetsCommits)
