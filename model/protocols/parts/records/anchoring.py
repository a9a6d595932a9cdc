"""Whether the tuples that a bolt emits belong to a tree."""

from __future__ import annotations

from onceproof.model.language import *


class Anchored(Part):
    """Anchors each tuple, so that the acker waits for it."""

    def waits_for(self) -> bool:
        """Return whether the acker waits for the tuples that a bolt emits."""
        return True


class Unanchored(Anchored):
    """Emits tuples that belong to no tree, whose loss nobody notices."""

    breaks = (
        "at-least-once",
        "effectively-once",
        "recoverable",
        "durable",
        "waits-for-what-is-under-way",
        "counts-what-it-need-not-wait-for",
    )

    def waits_for(self) -> bool:
        """The acker forgets a tree without the tuples that a bolt emits."""
        return False
