"""What a relay gives its messages, and where their receiver keeps what it has seen."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *

E = Sort("event", size=2)

_LEMMAS = ("knows-what-has-its-effect", "handles-what-it-does-not-know")


class DeduplicationTable(Part):
    """Notes the key of a message in the transaction that has its effect."""

    pipeline_role: ClassVar[str] = "sink"

    E = E

    seen = state(False, per=E)

    def knows(self, e: Member) -> bool:
        """Return whether the message has been handled."""
        return self.seen[e]

    def before(self, e: Member) -> None:
        """The handler is about to begin its transaction."""

    def within(self, e: Member) -> None:
        """The handler's transaction commits."""
        self.seen[e] = True

    def after(self, e: Member) -> None:
        """The handler is about to acknowledge the message."""


class DeduplicationTableBefore(DeduplicationTable):
    """Notes the key in its own transaction, before the effect, which is lost."""

    breaks = (
        "at-least-once",
        "effectively-once",
        "recoverable",
        "durable",
        *_LEMMAS,
    )

    def before(self, e: Member) -> None:
        """The key is noted, and there is no effect yet."""
        self.seen[e] = True

    def within(self, e: Member) -> None:
        """The transaction has the effect alone."""


class DeduplicationTableAfter(DeduplicationTable):
    """Notes the key in its own transaction, after the effect, which is repeated."""

    breaks = ("at-most-once", "effectively-once", *_LEMMAS)

    def within(self, e: Member) -> None:
        """The transaction has the effect alone."""

    def after(self, e: Member) -> None:
        """The key is noted, after the effect."""
        self.seen[e] = True


class NoDeduplicationKey(DeduplicationTable):
    """Gives messages no key, so that a repeat cannot be known."""

    breaks = ("at-most-once", "effectively-once", *_LEMMAS)

    def knows(self, e: Member) -> bool:
        """Every message looks new."""
        return False
