"""Where a query with state keeps it, and where its results go: a part each."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more


class StateVersions(Part):
    """A state store with a version for each batch, in each partition.

    A task loads the version of the batch before, adds its event, and commits the next
    version. The file of a version is written whole, so a task that is tried again
    replaces it.
    """

    BATCH = Sink.BATCH
    PARTITION = Sink.PARTITION

    held = state(0, high=MOST, per=(BATCH, BATCH, PARTITION))

    def before(self, b: Member, e: Member, p: Member) -> int:
        """Count the event of batch ``e`` in the version that ``b`` begins with."""
        found = total(if_else(b == v + 1, self.held[v, e, p], 0) for v in self.BATCH)
        return min_of(found, MOST)

    def commit(self, b: Member, p: Member) -> None:
        """Commit the version of batch ``b`` in a partition."""
        self.held.where(lambda v, e, q: all_of(v == b, q == p)).set(
            lambda v, e, q: if_else(e == b, 1, self.before(b, e, p))
        )

    def can_be_logged(self, ran: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether the commit log can say where the state is."""
        return all_of(ran == ran)


class StateVersionsWithIds(StateVersions):
    """The same; the commit log holds the ids of the versions that tasks committed.

    Where no task ran in this run, there is no id. Spark's checkpoint format 2.
    """

    def can_be_logged(self, ran: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Only tasks that ran have reported ids."""
        return ran


class StateInPlace(StateVersions):
    """The same without versions: a commit adds to what is there, whoever put it there.

    So does a task that keeps its state in a table of its own.
    """

    breaks = ("at-most-once", "effectively-once", "batch-equivalence")

    def before(self, b: Member, e: Member, p: Member) -> int:
        """What is there counts, also what this batch has put there before."""
        older = super().before(b, e, p)
        return max_of(older, self.held[b, e, p])

    def commit(self, b: Member, p: Member) -> None:
        """Add the event of batch ``b`` once more."""
        self.held.where(lambda v, e, q: all_of(v == b, q == p)).set(
            lambda v, e, q: if_else(
                e == b, one_more(self.before(b, e, p)), self.before(b, e, p)
            )
        )


class Results(Part):
    """A file of results for each batch id, written whole; a repeat replaces it."""

    BATCH = Sink.BATCH
    PARTITION = Sink.PARTITION

    shown = state(0, high=MOST, per=(BATCH, PARTITION))
    there = state(False, per=BATCH)

    def takes(self, b: Member) -> bool:
        """Return whether it has the batch computed."""
        return all_of(b == b)


class ResultsSkipped(Results):
    """The same; a batch id that is there is skipped, and none of its tasks runs.

    So do Spark's file sink, and a callback that keeps a ledger of batch ids. No task
    then reports the time of an event: the watermark stays behind for good, or until
    more data comes.
    """

    breaks = ("at-least-once", "effectively-once", "recoverable", "batch-equivalence")

    def takes(self, b: Member) -> bool:
        """A batch that is there is not computed again."""
        return not_(self.there[b])
