"""How a service writes its rows, and the messages that it owes for them."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.outbox.deduplication_tables import E


class OutboxInTransaction(Part):
    """Writes the message into the outbox, in the transaction that writes the row."""

    pipeline_role: ClassVar[str] = "source"

    E = E

    waiting = state(False, per=E)

    def write(self, e: Member) -> None:
        """The transaction of the row commits."""
        self.waiting[e] = True


class OutboxAfterwards(OutboxInTransaction):
    """Writes the message after the row, as a dual write; a crash between loses it."""

    breaks = (
        "at-least-once",
        "effectively-once",
        "recoverable",
        "has-each-message-somewhere",
    )

    owed = state(False, per=E)

    def write(self, e: Member) -> None:
        """The transaction has the row alone."""
        self.owed[e] = True

    @action(per=E, by="service")
    def write_message(self, e: Member) -> None:
        """The service writes the message that its row owes, in another transaction."""
        when(self.owed[e])
        self.owed[e] = False
        self.waiting[e] = True

    @fault(by="service")
    def service_dies(self) -> None:
        """The service forgets what it still had to write."""
        when(any_of(self.owed[e] for e in self.E))
        self.owed.fill(value=False)
