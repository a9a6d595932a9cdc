"""Sinks that append rows, without a key or with one that is drawn."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more

KEY = Sort("key", size=MOST, ordered=True)


class Append(Sink):
    """Each task appends its rows in a transaction of its own; nothing has a key.

    So does JDBC through foreachBatch, and any sink that trusts the engine never to
    run a batch again.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-most-once",
        "effectively-once",
        "atomic-visibility",
    )

    rows = state(0, high=MOST, per=(Sink.BATCH, Sink.PARTITION))

    def write(self, b: Member, p: Member, a: Member) -> None:
        """Append the rows of partition ``p``."""
        self.rows.where(lambda c, e: all_of(c == b, self.holds(p, e))).set(
            lambda c, e: one_more(self.rows[c, e])
        )

    def kept_of_task(self, b: Member, p: Member) -> bool:
        """The partition's rows are there."""
        return all_of(
            implies(self.holds(p, e), self.rows[b, e] > 0) for e in self.PARTITION
        )

    def kept(self, b: Member) -> bool:
        """All rows are there."""
        return all_of(self.rows[b, e] > 0 for e in self.PARTITION)

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees every row."""
        return self.rows[b, e]


class DrawnKey(Sink):
    """Each attempt draws the keys of its rows, and writes by key.

    An upsert needs keys that are the same in each run: by ``uuid()``, the time, or a
    number that is counted, a repeated batch has other keys, and finds no row of its own
    to replace.
    """

    breaks = ("at-most-once", "effectively-once", "atomic-visibility")

    KEY = KEY

    drawn = state(0, high=MOST, per=(Sink.BATCH, Sink.PARTITION))
    row = state(False, per=(Sink.BATCH, Sink.PARTITION, KEY))

    def write(self, b: Member, p: Member, a: Member) -> None:
        """Insert the rows of partition ``p`` under keys that were not drawn before."""
        self.row.where(
            lambda c, e, k: all_of(c == b, self.holds(p, e), self.drawn[c, e] == k)
        ).fill(value=True)
        self.drawn.where(lambda c, e: all_of(c == b, self.holds(p, e))).set(
            lambda c, e: one_more(self.drawn[c, e])
        )

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees a row for each key."""
        return count(self.row[b, e, k] for k in self.KEY)


class AppendWhole(Sink):
    """The driver appends a batch's rows in one commit; nothing has a key.

    So does a table format: tasks write files that nobody sees, and an entry in the
    table's log makes them visible.
    """

    breaks = ("at-most-once", "effectively-once")

    rows = state(0, high=MOST, per=Sink.BATCH)
    due = state(False, per=Sink.BATCH, volatile=True)

    def start_commit(self, b: Member) -> None:
        """The batch is due, whatever the table holds."""
        self.due[b] = True

    @action(per=Sink.BATCH)
    def append(self, b: Member) -> None:
        """Commit the rows."""
        when(self.due[b])
        self.rows[b] = one_more(self.rows[b])
        self.due[b] = False

    def arrive_late(self, b: Member) -> None:
        """Commit the rows once more."""
        self.rows[b] = one_more(self.rows[b])

    def finished(self, b: Member) -> bool:
        """The callback returns when nothing is due."""
        return not_(self.due[b])

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees every row."""
        return self.rows[b]
