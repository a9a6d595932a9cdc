"""A sink that writes rows by key."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import Sink


class Upsert(Sink):
    """Each task writes its rows by the event's key: a repeat changes nothing."""

    breaks = ("atomic-visibility",)

    rows = state(False, per=(Sink.BATCH, Sink.PARTITION))

    def write(self, b: Member, p: Member, a: Member) -> None:
        """Insert or replace the rows of partition ``p``."""
        self.rows.where(lambda c, e: all_of(c == b, self.holds(p, e))).fill(value=True)

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees one row for a key."""
        return if_else(self.rows[b, e], 1, 0)
