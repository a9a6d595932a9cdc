"""Which operators with state a query has: one, or two in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.protocols.parts.state_stores import (
        ClosedWindows,
        StateVersions,
    )

    Passed = Callable[[Member], bool]


class OneOperator(Part):
    """One operator with state: its rows are the results."""

    BATCH = Sink.BATCH
    PARTITION = Sink.PARTITION

    def lacks(self, versions: StateVersions, output: ClosedWindows) -> str:
        """Return which part it does not go with; the empty text if with both."""
        return ""

    def is_due(self) -> bool:
        """Return whether the tasks of the second operator have not started yet."""
        return False

    def runs_second(self) -> bool:
        """Return whether the tasks that run are those of the second operator."""
        return False

    def start_first(self) -> None:
        """The tasks of the first operator start."""

    def start_second(self) -> None:
        """The tasks of the second operator start."""

    def commit_second(
        self,
        versions: StateVersions,
        b: Member,
        p: Member,
        *,
        closes: Passed,
        ended: Passed,
    ) -> None:
        """A task of the second operator commits its state in batch ``b``.

        ``closes`` says of a batch whether the watermark passes its events in ``b``, and
        ``ended`` whether one without data has followed it.
        """

    def end(self, versions: StateVersions, b: Member, opened: Passed) -> None:
        """The batch without data after ``b`` runs.

        ``opened`` says of a batch whether the watermark had not passed its events.
        """

    def row(
        self,
        versions: StateVersions,
        output: ClosedWindows,
        b: Member,
        e: Member,
        p: Member,
    ) -> int:
        """Count an event of ``e`` in the row that ``b`` shows of it."""
        return output.row(versions, b, e, p)

    def row_at_end(
        self,
        versions: StateVersions,
        b: Member,
        e: Member,
        p: Member,
        opened: Passed,
    ) -> int:
        """Count it in the row that the batch without data after ``b`` shows of it."""
        return versions.held[b, e, p]


class DuplicatesFirst(OneOperator):
    """The first operator drops duplicates; what is new goes into windows.

    All tasks of the first one end before those of the second one start, and each
    commits the state of its own operator, which has versions. An event that the first
    one's state has met before is not passed on.
    """

    second = state(False, volatile=True)
    held = state(0, high=MOST, per=(Sink.BATCH, Sink.BATCH, Sink.PARTITION))
    held_at_end = state(0, high=MOST, per=(Sink.BATCH, Sink.BATCH, Sink.PARTITION))

    def lacks(self, versions: StateVersions, output: ClosedWindows) -> str:
        """The second operator shows windows that close, and its state has versions."""
        if not versions.has_versions:
            return versions.label()
        return "" if output.shows_closed_windows else output.label()

    def is_due(self) -> bool:
        """It is due until it has started."""
        return not_(self.second)

    def runs_second(self) -> bool:
        """Return whether it has started."""
        return self.second

    def start_first(self) -> None:
        """The tasks of the first operator start."""
        self.second = False

    def start_second(self) -> None:
        """The tasks of the second operator start."""
        self.second = True

    def passed(
        self, versions: StateVersions, b: Member, e: Member, p: Member, closes: Passed
    ) -> int:
        """Count an event of ``e`` in what the first operator passes on in ``b``."""
        return if_else(all_of(e == b, versions.held[b, e, p] == 1), 1, 0)

    def passed_at_end(
        self, versions: StateVersions, b: Member, e: Member, p: Member, opened: Passed
    ) -> int:
        """Count it in what that passes on in the batch without data after ``b``."""
        return 0

    def commit_second(
        self,
        versions: StateVersions,
        b: Member,
        p: Member,
        *,
        closes: Passed,
        ended: Passed,
    ) -> None:
        """Add what the first operator passes on to what was there before the batch."""
        self.held.where(lambda v, e, q: all_of(v == b, q == p)).set(
            lambda v, e, q: min_of(
                self._before(b, e, p, ended) + self.passed(versions, b, e, p, closes),
                MOST,
            )
        )

    def end(self, versions: StateVersions, b: Member, opened: Passed) -> None:
        """The state after the batch without data has what is passed on in it."""
        self.held_at_end.where(lambda v, e, q: v == b).set(
            lambda v, e, q: min_of(
                self.held[b, e, q] + self.passed_at_end(versions, b, e, q, opened),
                MOST,
            )
        )

    def row(
        self,
        versions: StateVersions,
        output: ClosedWindows,
        b: Member,
        e: Member,
        p: Member,
    ) -> int:
        """Count an event in the second operator's state: new rows are there first."""
        return self.held[b, e, p]

    def row_at_end(
        self,
        versions: StateVersions,
        b: Member,
        e: Member,
        p: Member,
        opened: Passed,
    ) -> int:
        """Count it in that state, and in what comes in the batch without data."""
        passed = self.passed_at_end(versions, b, e, p, opened)
        return min_of(self.held[b, e, p] + passed, MOST)

    def _before(self, b: Member, e: Member, p: Member, ended: Passed) -> int:
        """Count an event in the version that ``b`` begins with."""
        found = total(
            if_else(
                b == v + 1,
                if_else(ended(v), self.held_at_end[v, e, p], self.held[v, e, p]),
                0,
            )
            for v in self.BATCH
        )
        return min_of(found, MOST)


class WindowsFirst(DuplicatesFirst):
    """The first operator sums in windows; those that close go into longer windows.

    A window is passed on in the batch that closes it, once.
    """

    def passed(
        self, versions: StateVersions, b: Member, e: Member, p: Member, closes: Passed
    ) -> int:
        """Count an event in the windows that the watermark passes in ``b``."""
        return if_else(closes(e), versions.before(b, e, p), 0)

    def passed_at_end(
        self, versions: StateVersions, b: Member, e: Member, p: Member, opened: Passed
    ) -> int:
        """Count it in the windows that were still open."""
        return if_else(opened(e), versions.held[b, e, p], 0)
