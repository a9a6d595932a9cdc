"""A source that gives the same events again, and what every source is."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import Sink


class Replayable(Part):
    """A log that keeps its events: it gives those of a range of offsets again.

    So do Kafka, Kinesis and a folder of files, as long as nothing is deleted there.
    """

    BATCH = Sink.BATCH

    pipeline_role: ClassVar[str] = "source"

    def has(self, b: Member) -> bool:
        """Return whether the events of the batch can be read."""
        return True

    def read(self, b: Member) -> None:
        """The engine reads the batch."""

    def restart(self) -> None:
        """A driver starts, and reads where its logs end."""
