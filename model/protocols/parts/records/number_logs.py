"""When the number of an applied record is in the log of its operator."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.records.productions import NUMBER, E


class LogInOneWrite(Part):
    """Logs the number of a record in the write that has its effect."""

    E = E
    NUMBER = NUMBER

    has = state(False, per=(E, NUMBER))

    def add(self, e: Member, n: Member) -> None:
        """A record is applied, and about to be acknowledged."""
        self.has[e, n] = True


class LogAfterwards(LogInOneWrite):
    """Logs the number in a write of its own, after the effect and the acknowledgement.

    A copy that comes before that write, or after a crash before it, is applied again.
    """

    breaks: ClassVar[tuple[str, ...]] = ("at-most-once", "effectively-once")

    owed = state(False, per=(E, NUMBER), volatile=True)

    def add(self, e: Member, n: Member) -> None:
        """The number is to be logged later."""
        self.owed[e, n] = True

    @action(per=(E, NUMBER), by="receiver")
    def log_number(self, e: Member, n: Member) -> None:
        """The receiver logs the number of a record that it has applied."""
        when(self.owed[e, n])
        self.owed[e, n] = False
        self.has[e, n] = True
