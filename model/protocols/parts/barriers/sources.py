"""The sources of a job: logs that are read from an offset on."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.barriers.alignment import S

E = Sort("event of a source", size=2, ordered=True)


class Source(Part):
    """Logs of events, read from an offset on, and trimmed up to what is confirmed."""

    pipeline_role: ClassVar[str] = "source"

    S = S
    E = E
    offset = state(0, per=S, high=E, volatile=True)
    noted = state(0, per=S, high=E, volatile=True)
    notified = state(False, per=S, volatile=True)
    saved = state(0, per=S, high=E)
    trimmed = state(0, per=S, high=E)

    def confirm(self, s: Member) -> None:
        """A complete checkpoint is confirmed: up to it the log is not needed."""
        self.trimmed[s] = self.saved[s]

    def rewind(self) -> None:
        """Every source goes back to the checkpoint, or as far as its log goes."""
        self.offset.set(lambda s: max_of(self.saved[s], self.trimmed[s]))


class ConfirmingPosition(Source):
    """Confirms what it has read, and not what the checkpoint holds.

    flink-cdc #2538. The log is trimmed beyond the offset that a restart needs.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
    )

    def confirm(self, s: Member) -> None:
        """The log may be trimmed up to the reader's position."""
        self.trimmed[s] = self.offset[s]
