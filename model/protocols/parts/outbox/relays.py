"""In which order a relay empties an outbox."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.outbox.deduplication_tables import E


class Relay(Part):
    """What a relay does with a message: it publishes it, and it removes it."""

    E = E

    held = state(False, per=E, volatile=True)

    def may_publish(self, e: Member, waiting: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether the message is next to be published."""
        raise NotImplementedError

    def may_remove(self, e: Member, waiting: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether the message is next to be removed from the outbox."""
        raise NotImplementedError

    def publish(self, e: Member) -> None:
        """The message is published."""
        self.held[e] = not_(self.held[e])

    def remove(self, e: Member) -> None:
        """The message is removed."""
        self.held[e] = not_(self.held[e])


class PublishesFirst(Relay):
    """Publishes a message, then removes it; between the two it may publish it again."""

    sent = state(False, per=E)

    def may_publish(self, e: Member, waiting: bool) -> bool:  # noqa: FBT001 - a modelled value
        """What waits is published at once."""
        return all_of(waiting, not_(self.held[e]))

    def may_remove(self, e: Member, waiting: bool) -> bool:  # noqa: FBT001 - a modelled value
        """What was published is next."""
        return self.held[e]

    def publish(self, e: Member) -> None:
        """The message is published, and still in the outbox."""
        super().publish(e)
        self.sent[e] = True

    def remove(self, e: Member) -> None:
        """The message is no longer in the outbox."""
        super().remove(e)
        self.sent[e] = False

    @sometimes
    def publishes_again(self) -> bool:
        """A message can be next to be published that has been published before."""
        return any_of(all_of(self.sent[e], not_(self.held[e])) for e in self.E)


class RemovesFirst(Relay):
    """Removes a message, then publishes it; a crash between the two loses it."""

    breaks = (
        "at-least-once",
        "effectively-once",
        "recoverable",
        "has-each-message-somewhere",
    )

    def may_publish(self, e: Member, waiting: bool) -> bool:  # noqa: FBT001 - a modelled value
        """What was removed is next."""
        return self.held[e]

    def may_remove(self, e: Member, waiting: bool) -> bool:  # noqa: FBT001 - a modelled value
        """What waits is removed at once."""
        return all_of(waiting, not_(self.held[e]))
