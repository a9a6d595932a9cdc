"""A store that keeps versions, and a reader that reads its rows one by one."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.versions.numberings import (
    MOST,
    VERSION,
    VersionOfTransaction,
)
from onceproof.model.protocols.parts.versions.readers import SnapshotRead


class MultiVersionStore(Protocol):
    """Readers see the versions of one moment. Bernstein and Goodman, TODS 1983.

    Multiversion Concurrency Control: Theory and Algorithms. A transaction adds one to
    each row, under a version of its own, and one write to the store's clock commits
    all. A reader notes the clock as it begins, and reads one row after the other. A
    writer that dies before it hears that it has committed tries again; what a try has
    written under a version that is not committed, the next one replaces. Left out: a
    second writer, requests of a dead one that come late, and that old versions are
    removed while a reader needs them.
    """

    role = "writer"

    ROW = Sort("row", size=2)
    VERSION = VERSION

    reader = part(SnapshotRead)
    numbering = part(VersionOfTransaction)

    value = state(0, high=MOST, per=(VERSION, ROW))
    clock = state(0, high=VERSION)
    wrote = state(False, per=ROW, volatile=True)
    committed = state(False, volatile=True)
    heard = state(False)

    begun = state(0, high=VERSION)
    reading = state(False)
    done = state(False, per=ROW)
    seen = state(0, high=MOST, per=ROW)
    finished = state(False)
    result = state(0, high=MOST, per=ROW)

    @action(per=(VERSION, ROW))
    def write(self, v: Member, r: Member) -> None:
        """The transaction writes a row under its version, from the current one."""
        when(self._tries(v), not_(self.wrote[r]))
        self.value[v, r] = min_of(self._at(self.clock, r) + 1, MOST)
        self.wrote[r] = True

    @action(per=VERSION)
    def commit(self, v: Member) -> None:
        """The clock moves on, and the version is current."""
        when(self._tries(v), all_of(self.wrote[r] for r in self.ROW))
        self.clock = v + 1
        self.committed = True

    @action
    def hear(self) -> None:
        """The writer hears that it has committed."""
        when(self.committed)
        self.heard = True
        self.committed = False

    @action
    def find_committed(self) -> None:
        """A writer that tries again finds its transaction committed."""
        when(not_(self.heard), not_(self.committed))
        when(self.numbering.is_committed(self.clock))
        self.heard = True

    @fault
    def die(self) -> None:
        """The writer dies, before its commit or before it hears of it."""
        when(any_of(self.committed, any_of(self.wrote[r] for r in self.ROW)))
        when(not_(self.heard))
        self.lose_volatile()

    @action(by="reader")
    def begin(self) -> None:
        """A reader begins, and notes the clock."""
        when(not_(self.reading), any_of(not_(self.finished), self.begun < self.clock))
        self.reading = True
        self.begun = self.clock
        self.done.fill(value=False)
        self.seen.fill(0)

    @action(per=ROW, by="reader")
    def read_row(self, r: Member) -> None:
        """The reader reads a row, as its version has it."""
        when(self.reading, not_(self.done[r]))
        self.done[r] = True
        self.seen[r] = self._at(self.reader.version(self.begun, self.clock), r)

    @action(by="reader")
    def finish(self) -> None:
        """The reader has read every row, and answers."""
        when(self.reading, all_of(self.done[r] for r in self.ROW))
        self.reading = False
        self.finished = True
        self.result.set(lambda r: self.seen[r])

    def _tries(self, v: Member) -> bool:
        """Return whether the writer is at work on a version that is next."""
        return all_of(
            not_(self.heard),
            not_(self.committed),
            self.clock == v,
            self.numbering.is_for(v, self.clock),
        )

    def _at(self, clock: int, r: Member) -> int:
        """Return what a row has at a moment of the clock; at first it is not there."""
        rows = total(if_else(clock == v + 1, self.value[v, r], 0) for v in self.VERSION)
        return min_of(rows, MOST)

    @observe(per=ROW)
    def visible(self, r: Member) -> int:
        """How often the last answer of the reader counts the transaction in a row."""
        return self.result[r]

    @observe(per=ROW)
    def accepted(self, r: Member) -> bool:
        """The transaction owes each row."""
        return True

    @observe(per=ROW)
    def unit(self, r: Member) -> int:
        """The rows belong to one transaction."""
        return if_else(r == r, 0, 1)

    @at_rest
    def hears_in_the_end(self) -> bool:
        """At rest the writer has heard that its transaction is there."""
        return self.heard

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
    def tries_again_after_its_commit(self) -> bool:
        """A writer can be at it again though its transaction is committed."""
        return all_of(self.clock > 0, not_(self.committed), not_(self.heard))

    @sometimes
    def shows_all(self) -> bool:
        """A reader can see the whole transaction."""
        return all_of(self.result[r] > 0 for r in self.ROW)

    @lemma
    def follows_on_the_current_version(self) -> bool:
        """A version adds one to the one before, and is whole once it is current."""
        return all_of(
            implies(
                any_of(self.clock > v, all_of(self.clock == v, self._has_written(r))),
                self.value[v, r] == min_of(v + 1, MOST),
            )
            for v in self.VERSION
            for r in self.ROW
        )

    @lemma
    def has_committed_what_it_says(self) -> bool:
        """The writer hears of a commit only where there is one."""
        return all_of(
            implies(any_of(self.heard, self.committed), self.clock > 0),
            self.numbering.reaches(self.clock),
            self.begun <= self.clock,
        )

    @lemma
    def has_read_its_version(self) -> bool:
        """What a reader has read is as its part says."""
        return all_of(
            implies(self.done[r], self.reader.has_read(self.seen[r], self.begun))
            for r in self.ROW
        )

    @lemma
    def answers_what_it_has_read(self) -> bool:
        """The answer is what the reader has read, until it begins again."""
        return all_of(
            all_of(
                implies(
                    all_of(self.finished, not_(self.reading)),
                    all_of(self.done[r], self.result[r] == self.seen[r]),
                ),
                implies(not_(self.finished), self.result[r] == 0),
            )
            for r in self.ROW
        )

    def _has_written(self, r: Member) -> bool:
        return all_of(self.wrote[r], not_(self.committed), not_(self.heard))
