"""Who keeps the phase of a transaction, and the epoch of its producer."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from onceproof.model.language import *

EPOCH = Sort("epoch of the producer", size=8, ordered=True)


class Stage(Enum):
    """What the coordinator knows of the producer's transaction."""

    EMPTY = "empty"
    ONGOING = "ongoing"
    COMMITTING = "committing"
    ABORTING = "aborting"


class TransactionCoordinator(Part):
    """Keeps a transaction's phase. Each transaction has an epoch of its own.

    KIP-890: the epoch grows as a transaction ends, whoever ends it. A producer without
    an epoch left does not start: runs of two faults leave some of the standard eight,
    and for three EPOCH has to be 9.
    """

    EPOCH = EPOCH
    phase = state(Stage.EMPTY)
    epoch = state(0, high=EPOCH)
    decided = state(0, high=EPOCH)

    def bump(self) -> None:
        """Begin another epoch; what is sent under the old one is out of date."""
        self.epoch = min_of(self.epoch + 1, self.EPOCH.last)

    def fence(self) -> None:
        """A producer starts: what an earlier one of its name sends is out of date."""
        self.bump()

    def expire(self) -> None:
        """End a transaction that has taken too long."""
        self.phase = Stage.ABORTING
        self.bump()

    def abort(self) -> None:
        """End a transaction because its producer asks for it."""
        self.phase = Stage.ABORTING
        self.bump()

    def end(self) -> None:
        """End a transaction whose commit markers are written."""
        self.phase = Stage.EMPTY
        self.bump()

    def remembers(self, epoch: int) -> bool:
        """Return whether the coordinator knows that a transaction was committed."""
        return self.decided == epoch


class UnfencedExpiry(TransactionCoordinator):
    """Ends a transaction that takes too long, and does not fence its producer.

    KAFKA-6119. The producer goes on under the same epoch, and does not notice.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
    )

    def expire(self) -> None:
        """The epoch stays."""
        self.phase = Stage.ABORTING


class EpochOfTheProducer(TransactionCoordinator):
    """Keeps the epoch of a producer from one transaction to the next.

    Kafka before KIP-890: a late record of one transaction is let into the next.
    """

    breaks: ClassVar[tuple[str, ...]] = ("at-most-once", "effectively-once")

    def abort(self) -> None:
        """The epoch stays."""
        self.phase = Stage.ABORTING

    def end(self) -> None:
        """The epoch stays."""
        self.phase = Stage.EMPTY


class UnfencedStart(EpochOfTheProducer):
    """Gives a producer that starts the epoch of the one before it.

    What the earlier one has sent, and is still on its way, is let into a transaction of
    the new one, beside the same events sent again. Epochs are what keeps zombies out.
    """

    def fence(self) -> None:
        """The epoch stays."""


class ForgetsCommits(TransactionCoordinator):
    """Removes what it knows of a transaction as soon as it is committed.

    Pulsar #19629.
    """

    breaks: ClassVar[tuple[str, ...]] = ("at-most-once", "effectively-once")

    def remembers(self, epoch: int) -> bool:
        """It knows of none."""
        return epoch < 0
