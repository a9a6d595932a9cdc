"""What an operator sends on, and whether it saves it first."""

from __future__ import annotations

from onceproof.model.language import *

E = Sort("event", size=2, ordered=True)
NUMBER = Sort("number", size=2, ordered=True)


class StrongProductions(Part):
    """Saves a record under its number before it is sent, so that a restart repeats it.

    MillWheel calls them strong productions.
    """

    E = E

    ready = state(False, per=E)
    number = state(0, high=1, per=E)

    def restart(self) -> None:
        """The operator starts again with what it saved."""


class WeakProductions(StrongProductions):
    """Sends a record before anything is saved; a restart makes it under a new number.

    The log of the receiver then takes it for another record. That does no harm where
    the effect is idempotent.
    """

    breaks = ("at-most-once", "effectively-once")

    def restart(self) -> None:
        """The operator computes again whatever it sent."""
        self.number.set(lambda e: if_else(self.ready[e], 1, self.number[e]))
        self.ready.fill(value=False)
