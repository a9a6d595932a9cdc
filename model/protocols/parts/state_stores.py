"""What a query with state keeps, shows and writes, and how often: a part each."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_more

if TYPE_CHECKING:
    from collections.abc import Mapping


class StateVersions(Part):
    """A state store with a version for each batch, in each partition.

    A task loads the version of the batch before, adds its event, and commits the next
    version. The file of a version is written whole, so a task that is tried again
    replaces it.
    """

    BATCH = Sink.BATCH
    PARTITION = Sink.PARTITION

    held = state(0, high=MOST, per=(BATCH, BATCH, PARTITION))

    @property
    def has_versions(self) -> bool:
        """Whether a batch that runs again begins with what it began with before."""
        return True

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
    """State versions whose ids, as tasks committed them, are in the commit log.

    Where no task ran in this run, there is no id. Spark's checkpoint format 2.
    """

    def can_be_logged(self, ran: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Only tasks that ran have reported ids."""
        return ran


class StateInPlace(StateVersions):
    """State without versions: a commit adds to what is there, whoever put it there.

    So does a task that keeps its state in a table of its own. Where a batch shows what
    the state has not met, a repeat shows nothing.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-most-once",
        "effectively-once",
        "batch-equivalence",
    )
    breaks_in: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "new-rows": ("at-least-once", "atomic-visibility", "recoverable")
    }

    @property
    def has_versions(self) -> bool:
        """It begins with what is there."""
        return False

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

    pipeline_role: ClassVar[str] = "sink"

    BATCH = Sink.BATCH
    PARTITION = Sink.PARTITION

    shown = state(0, high=MOST, per=(BATCH, PARTITION))
    there = state(False, per=BATCH)
    there_after = state(False, per=BATCH)

    def takes(self, b: Member) -> bool:
        """Return whether it has the batch computed."""
        return all_of(b == b)

    def takes_after(self, b: Member) -> bool:
        """Return whether it has the batch without data after ``b`` computed."""
        return all_of(b == b)


class ResultsSkipped(Results):
    """A batch id whose results are there is skipped, and none of its tasks runs.

    So do Spark's file sink, and a callback that keeps a ledger of batch ids. No task
    then reports the time of an event: the watermark stays behind for good, or until
    more data comes.
    """

    breaks = ("at-least-once", "effectively-once", "recoverable", "batch-equivalence")

    def takes(self, b: Member) -> bool:
        """A batch that is there is not computed again."""
        return not_(self.there[b])

    def takes_after(self, b: Member) -> bool:
        """Nor is a batch without data."""
        return not_(self.there_after[b])


class ClosedWindows(Part):
    """A batch shows the windows that the watermark has passed: append mode.

    What the last batch has closed waits for a batch without data.
    """

    BATCH = Sink.BATCH
    PARTITION = Sink.PARTITION

    @property
    def ends_state(self) -> bool:
        """Whether the watermark ends state, so that a batch without data follows."""
        return True

    @property
    def shows_closed_windows(self) -> bool:
        """Whether a row is shown when its window closes, and then alone."""
        return True

    def last(self, e: Member) -> int:
        """Return the batch that has the last event of the window of one of ``e``."""
        return e

    def shows(self, b: Member, e: Member, closes: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether ``b`` has a row for an event ``e``, whose window it closes."""
        return closes

    def shows_at_end(self, e: Member, open_: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether the batch without data has one for a window still open."""
        return open_

    def row(self, versions: StateVersions, b: Member, e: Member, p: Member) -> int:
        """Count the event in the row; a window is removed as it is shown."""
        return versions.before(b, e, p)


def _opens_a_pair(b: Member) -> bool:
    return b % 2 == 0


class PairedWindows(ClosedWindows):
    """A window goes on with the next batch, and ends with it.

    So does a session, which merges two, and a window of a second operator that has two
    of the first. If there is no next batch, it ends with its own.
    """

    goes_on = state(by_member(_opens_a_pair), per=Sink.BATCH)

    def last(self, e: Member) -> int:
        """Of each two batches the second."""
        return if_else(all_of(self.goes_on[e], e < self.BATCH.last), e + 1, e)


class ChangedRows(ClosedWindows):
    """A batch shows each row that its events have changed: update mode.

    Rows replace each other by their key. A batch without data ends state, and shows
    nothing.
    """

    @property
    def shows_closed_windows(self) -> bool:
        """Rows are shown before."""
        return False

    def shows(self, b: Member, e: Member, closes: bool) -> bool:  # noqa: FBT001 - a modelled value
        """The events of a batch are in windows of its own."""
        return all_of(e == b)

    def shows_at_end(self, e: Member, open_: bool) -> bool:  # noqa: FBT001 - a modelled value
        """No event changes anything."""
        return False

    def row(self, versions: StateVersions, b: Member, e: Member, p: Member) -> int:
        """Count the event in the version that the batch has committed."""
        return versions.held[b, e, p]


class JoinedRows(ChangedRows):
    """A batch shows the pairs that its events make: an inner join, or a semi-join.

    Both events of a pair are in one batch. Each copy that the state has of one makes a
    row, and rows do not replace each other.
    """


class OuterJoinedRows(JoinedRows):
    """A batch shows the pairs that its events make, and those that stay alone.

    That an event has no partner is known once the watermark has passed it. It is so of
    each second batch.
    """

    alone = state(by_member(_opens_a_pair), per=Sink.BATCH)

    def shows(self, b: Member, e: Member, closes: bool) -> bool:  # noqa: FBT001 - a modelled value
        """A pair is shown at once, and what is alone when the watermark passes it."""
        return if_else(self.alone[e], closes, e == b)

    def shows_at_end(self, e: Member, open_: bool) -> bool:  # noqa: FBT001 - a modelled value
        """What is alone is shown."""
        return all_of(self.alone[e], open_)

    def row(self, versions: StateVersions, b: Member, e: Member, p: Member) -> int:
        """What is alone is removed as it is shown, and a pair is not."""
        return if_else(self.alone[e], versions.before(b, e, p), versions.held[b, e, p])


class AllRows(ChangedRows):
    """A batch shows all that the state holds: complete mode, and totals for ever."""

    @property
    def ends_state(self) -> bool:
        """State is kept for ever."""
        return False

    def shows(self, b: Member, e: Member, closes: bool) -> bool:  # noqa: FBT001 - a modelled value
        """All events up to the batch are in its rows."""
        return all_of(e <= b)


class NewRows(ChangedRows):
    """A batch shows the events that the state has not met: dropDuplicates.

    The watermark ends state, and rows do not replace each other.
    """

    def row(self, versions: StateVersions, b: Member, e: Member, p: Member) -> int:
        """The state has met an event that its version counts twice."""
        return if_else(versions.held[b, e, p] == 1, 1, 0)


class NewRowsForEver(NewRows):
    """A batch shows the events that the state has not met; it forgets none of them."""

    @property
    def ends_state(self) -> bool:
        """State is kept for ever."""
        return False


class OneAction(Part):
    """A batch is computed once: a writer of Spark's, or one action in foreachBatch."""

    def due(self) -> bool:
        """Return whether the batch is computed once more before it is done."""
        return False

    def start(self) -> None:
        """A batch starts."""

    def run(self) -> None:
        """All tasks of an action have run."""


class TwoActions(OneAction):
    """A callback of foreachBatch computes the batch twice, and keeps no rows of it.

    Each action runs all tasks, and they commit the state of the batch once more.
    """

    ran = state(False, volatile=True)

    def start(self) -> None:
        """A batch starts."""
        self.ran = False

    def run(self) -> None:
        """All tasks of an action have run."""
        self.ran = True

    def due(self) -> bool:
        """The second action is due after the first."""
        return not_(self.ran)
