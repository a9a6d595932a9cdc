"""Sinks that write rows by key."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more


class Upsert(Sink):
    """Each task writes its rows by the event's key: a repeat changes nothing."""

    breaks = ("atomic-visibility",)

    rows = state(False, per=(Sink.BATCH, Sink.PARTITION))

    def write(self, b: Member, p: Member, a: Member) -> None:
        """Insert or replace the rows of partition ``p``."""
        self.rows.where(lambda c, e: all_of(c == b, self.holds(p, e))).fill(value=True)

    def kept_of_task(self, b: Member, p: Member) -> bool:
        """The partition's rows are there."""
        return all_of(
            implies(self.holds(p, e), self.rows[b, e]) for e in self.PARTITION
        )

    def kept(self, b: Member) -> bool:
        """All rows are there."""
        return all_of(self.rows[b, e] for e in self.PARTITION)

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees one row for a key."""
        return if_else(self.rows[b, e], 1, 0)


class DrawnValue(Sink):
    """Each attempt computes its rows anew, and writes them by a key that stays.

    The query is not deterministic: its values come from the time, a random number, or
    what another system answers. Counted is the row that readers saw first. A repeat
    puts another one in its place, which is no effect of the event that they know.
    """

    breaks = (
        "at-least-once",
        "effectively-once",
        "atomic-visibility",
        "durable",
        "recoverable",
        "agreement",
    )

    drawn = state(0, high=MOST, per=(Sink.BATCH, Sink.PARTITION))

    def write(self, b: Member, p: Member, a: Member) -> None:
        """Insert or replace the rows of partition ``p``, with new values."""
        self.drawn.where(lambda c, e: all_of(c == b, self.holds(p, e))).set(
            lambda c, e: one_more(self.drawn[c, e])
        )

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees the row that was there first, unless another took its place."""
        return if_else(self.drawn[b, e] == 1, 1, 0)


class UpsertWhole(Sink):
    """The driver writes a batch's rows by key in one commit: a repeat changes nothing.

    So does a MERGE into a table format.
    """

    rows = state(False, per=Sink.BATCH)
    due = state(False, per=Sink.BATCH, volatile=True)

    def start_commit(self, b: Member) -> None:
        """The batch is due, whatever the table holds."""
        self.due[b] = True

    @action(per=Sink.BATCH)
    def merge(self, b: Member) -> None:
        """Commit the rows whose keys are not there."""
        when(self.due[b])
        self.rows[b] = True
        self.due[b] = False

    def arrive_late(self, b: Member) -> None:
        """Commit the rows whose keys are not there."""
        self.rows[b] = True

    def kept(self, b: Member) -> bool:
        """All rows are there."""
        return self.rows[b]

    def finished(self, b: Member) -> bool:
        """The callback returns when nothing is due."""
        return not_(self.due[b])

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees one row for a key."""
        return if_else(self.rows[b], 1, 0)
