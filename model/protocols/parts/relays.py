"""In which order a relay empties an outbox."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.deduplication_tables import E


class PublishesFirst(Part):
    """Publishes a message, then removes it; between the two it may publish it again."""

    E = E

    held = state(False, per=E, volatile=True)

    def may_publish(self, e: Member, waiting: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether the message is next to be published."""
        return all_of(waiting, not_(self.held[e]))

    def may_remove(self, e: Member, waiting: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether the message is next to be removed from the outbox."""
        return self.held[e]

    def take_turn(self, e: Member) -> None:
        """The other of the two steps is next."""
        self.held[e] = not_(self.held[e])


class RemovesFirst(PublishesFirst):
    """Removes a message, then publishes it; a crash between the two loses it."""

    breaks = ("at-least-once", "effectively-once", "recoverable")

    def may_publish(self, e: Member, waiting: bool) -> bool:  # noqa: FBT001 - a modelled value
        """What was removed is next."""
        return self.held[e]

    def may_remove(self, e: Member, waiting: bool) -> bool:  # noqa: FBT001 - a modelled value
        """What waits is removed at once."""
        return all_of(waiting, not_(self.held[e]))
