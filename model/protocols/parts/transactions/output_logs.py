"""The log that transactions write to."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.transactions.coordinators import Stage

E = Sort("event of the input", size=2, ordered=True)


MOST = 2


def plus(one: int, other: int) -> int:
    """Add, as far as it matters."""
    return min_of(one + other, MOST)


class OutputLog(Part):
    """The output: what is open, and what is committed, of each event."""

    pipeline_role: ClassVar[str] = "sink"

    E = E
    open = state(0, high=MOST, per=E)
    committed = state(0, high=MOST, per=E)

    def admits(self, epoch: int, current: int, phase: Stage) -> bool:
        """Verify with the coordinator that the transaction goes on (KIP-890)."""
        return all_of(epoch == current, phase == Stage.ONGOING)

    def write(self, e: Member, epoch: int, times: int) -> None:
        """Write a record that is let in; it counts its event so many times."""
        self.open[e] = plus(self.open[e], times)


class Unverified(OutputLog):
    """Does not ask the coordinator whether a transaction is open.

    Kafka before KIP-890: whoever has the current epoch is let in. That is harmless
    while each transaction has an epoch of its own. Where the producer keeps its epoch
    (`epoch-of-the-producer`), a late record opens a transaction that nobody ends.
    """

    def admits(self, epoch: int, current: int, phase: Stage) -> bool:
        """Let in who is not fenced."""
        return epoch == current
