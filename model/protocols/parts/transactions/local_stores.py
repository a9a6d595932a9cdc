"""The local state of a producer, on its disk."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.transactions.output_logs import MOST, E


class Store(Part):
    """The local state: how often each event is counted in it, on disk.

    Its checkpoint file says that it is in step with the log. It is deleted as the
    producer runs, so that after a crash the state is restored from the log.
    """

    E = E
    count = state(0, high=MOST, per=E)
    checkpoint = state(True)

    def run(self) -> None:
        """The producer runs from now on."""
        self.checkpoint = False


class KeptCheckpoint(Store):
    """Leaves the checkpoint file where it is while the producer runs. KAFKA-20685."""

    breaks: ClassVar[tuple[str, ...]] = ("at-most-once", "effectively-once")

    def run(self) -> None:
        """The file stays, and the state moves on."""
