"""When an operator forgets which records it has seen."""

from __future__ import annotations

from onceproof.model.language import *


class CollectsAfterRetries(Part):
    """Forgets a record once its sender has stopped and no copy is on its way.

    MillWheel waits for the bounded time that a late delivery can take.
    """

    def may_forget(self, sender_stopped: bool, on_its_way: bool) -> bool:  # noqa: FBT001 - modelled values
        """Return whether a record may leave the log."""
        return all_of(sender_stopped, not_(on_its_way))


class CollectsAtAcknowledgement(CollectsAfterRetries):
    """Forgets a record once its sender has stopped, though a late copy may come."""

    breaks = ("at-most-once", "effectively-once")

    def may_forget(self, sender_stopped: bool, on_its_way: bool) -> bool:  # noqa: FBT001 - modelled values
        """Late copies are not waited for."""
        return sender_stopped


class CollectsByAge(CollectsAfterRetries):
    """Forgets a record after a time that is shorter than its sender's retries."""

    breaks = ("at-most-once", "effectively-once")

    def may_forget(self, sender_stopped: bool, on_its_way: bool) -> bool:  # noqa: FBT001 - modelled values
        """The log expires before the last retry."""
        return True
