"""What readers of a log with transactions see."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.transactions.output_logs import MOST, E, plus

if TYPE_CHECKING:
    from collections.abc import Callable


class ReadCommitted(Part):
    """Readers see what is committed."""

    pipeline_role: ClassVar[str] = "sink"

    E = E

    def shown(self, e: Member, committed: int, still_open: int) -> int:
        """Count an event of which so many records are committed, and so many open."""
        return committed

    def pass_over(self, still_open: Callable[[Member], int]) -> None:
        """A transaction is aborted; its records stay in the log."""


class ReadUncommitted(ReadCommitted):
    """Readers see what is written, whether its transaction is committed or not.

    Kafka's consumers do, unless `isolation.level` is `read_committed`. What an aborted
    transaction wrote stays in the log, and what is written again comes on top of it.
    """

    breaks: ClassVar[tuple[str, ...]] = ("at-most-once", "effectively-once")

    aborted = state(0, high=MOST, per=E)

    def shown(self, e: Member, committed: int, still_open: int) -> int:
        """Count what is open, and what was aborted, too."""
        return plus(plus(committed, still_open), self.aborted[e])

    def pass_over(self, still_open: Callable[[Member], int]) -> None:
        """These readers do not pass over them."""
        self.aborted.set(lambda e: plus(self.aborted[e], still_open(e)))
