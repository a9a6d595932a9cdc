"""Who keeps the phase of a transaction, and the epoch of its producer."""

from __future__ import annotations

from enum import Enum

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
