"""A store that keeps versions, and a reader that reads its rows one by one."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.version_readers import SnapshotRead

ROW = Sort("row", size=2, ordered=True)
VERSIONS = 2


class MultiVersionStore(Protocol):
    """Readers see the versions of one moment. Bernstein and Goodman, TODS 1983.

    Multiversion Concurrency Control: Theory and Algorithms. A transaction writes
    a row of each key under a version of its own, and one write to the store's clock
    commits them. A reader notes the clock as it begins, and reads one row after the
    other. The rows of a writer that dies before its commit are removed.
    """

    role = "writer"

    ROW = ROW

    read = part(SnapshotRead)

    stored = state(False, per=ROW)
    clock = state(0, high=VERSIONS - 1)
    begun = state(0, high=VERSIONS - 1)
    reading = state(False)
    done = state(False, per=ROW)
    seen = state(False, per=ROW)
    finished = state(False)
    result = state(False, per=ROW)

    @action(per=ROW)
    def write(self, r: Member) -> None:
        """The transaction writes a row under its version."""
        when(not_(self.stored[r]), self.clock == 0)
        self.stored[r] = True

    @action
    def commit(self) -> None:
        """The clock moves on, and the version is current."""
        when(self.clock == 0, all_of(self.stored[r] for r in self.ROW))
        self.clock = 1

    @fault
    def die(self) -> None:
        """The writer dies before it commits; its rows are removed."""
        when(self.clock == 0, any_of(self.stored[r] for r in self.ROW))
        self.stored.fill(value=False)

    @action(by="reader")
    def begin(self) -> None:
        """A reader begins, and notes the clock."""
        when(not_(self.reading), any_of(not_(self.finished), not_(self._all_seen())))
        self.reading = True
        self.begun = self.clock
        self.done.fill(value=False)
        self.seen.fill(value=False)

    @action(per=ROW, by="reader")
    def read_row(self, r: Member) -> None:
        """The reader reads a row, as its version has it."""
        when(self.reading, not_(self.done[r]))
        self.done[r] = True
        self.seen[r] = all_of(
            self.stored[r], self.read.version(self.begun, self.clock) > 0
        )

    @action(by="reader")
    def finish(self) -> None:
        """The reader has read every row, and answers."""
        when(self.reading, all_of(self.done[r] for r in self.ROW))
        self.reading = False
        self.finished = True
        self.result.set(lambda r: self.seen[r])

    def _all_seen(self) -> bool:
        return all_of(self.result[r] for r in self.ROW)

    @observe(per=ROW)
    def visible(self, r: Member) -> int:
        """What the last answer of the reader shows."""
        return if_else(self.result[r], 1, 0)

    @observe(per=ROW)
    def accepted(self, r: Member) -> bool:
        """The transaction owes each row."""
        return True

    @observe(per=ROW)
    def unit(self, r: Member) -> int:
        """The rows belong to one transaction."""
        return if_else(r == r, 0, 1)

    @sometimes
    def reads_across_a_commit(self) -> bool:
        """A commit can come between two reads of a reader."""
        return all_of(
            self.reading,
            self.begun < self.clock,
            any_of(self.done[r] for r in self.ROW),
            any_of(not_(self.done[r]) for r in self.ROW),
        )

    @sometimes
    def shows_all(self) -> bool:
        """A reader can see the whole transaction."""
        return self._all_seen()
