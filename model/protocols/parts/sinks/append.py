"""A sink that appends rows without a key."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more


class Append(Sink):
    """Each task appends its rows in a transaction of its own; nothing has a key.

    So does JDBC through foreachBatch, and any sink that trusts the engine never to
    run a batch again.
    """

    breaks = ("at-most-once", "effectively-once", "atomic-visibility")

    rows = state(0, high=MOST, per=(Sink.BATCH, Sink.PARTITION))

    def write(self, b: Member, p: Member, a: Member) -> None:
        """Append the rows of partition ``p``."""
        self.rows.where(lambda c, e: all_of(c == b, self.holds(p, e))).set(
            lambda c, e: one_more(self.rows[c, e])
        )

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees every row."""
        return self.rows[b, e]
