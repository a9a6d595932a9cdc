"""What readers of a log with transactions see."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.transactions.output_logs import E, plus


class ReadCommitted(Part):
    """Readers see what is committed."""

    pipeline_role: ClassVar[str] = "sink"

    E = E

    def shown(self, committed: int, still_open: int) -> int:
        """Count an event of which so many records are committed, and so many open."""
        return committed


class ReadUncommitted(ReadCommitted):
    """Readers see what is written, whether its transaction is committed or not.

    Kafka's consumers do, unless `isolation.level` is `read_committed`.
    """

    breaks: ClassVar[tuple[str, ...]] = ("durable",)

    def shown(self, committed: int, still_open: int) -> int:
        """Count what is open, too."""
        return plus(committed, still_open)
