"""A sink that keeps a key of partition and epoch with the rows of each task."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more


class PartitionLedger(Sink):
    """One transaction writes a task's rows and its (partition, epoch).

    A task whose key is there writes nothing. The key names a place in a plan, not
    the rows: it is as stable as the plan is (SPARK-28650).
    """

    breaks = ("atomic-visibility",)

    rows = state(0, high=MOST, per=(Sink.BATCH, Sink.PARTITION))
    keys = state(False, per=(Sink.BATCH, Sink.PARTITION))

    def write(self, b: Member, p: Member, a: Member) -> None:
        """Commit the rows of partition ``p`` with its key, unless the key is there."""
        new = not_(self.keys[b, p])
        self.rows.where(lambda c, e: all_of(c == b, self.holds(p, e), new)).set(
            lambda c, e: one_more(self.rows[c, e])
        )
        self.keys[b, p] = True

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees every row."""
        return self.rows[b, e]
