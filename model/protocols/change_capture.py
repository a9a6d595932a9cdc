"""A copy of a table, from its rows and from the log of their changes."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import *
from onceproof.model.protocols.parts.captures import (
    CHANGE,
    KEY,
    ReplicationSlot,
    Snapshot,
)


class Chunk(Enum):
    """How far a chunk of rows is: here, the row of one key."""

    TO_READ = "to read"
    BEGUN = "begun"
    HELD = "held"
    PUT = "put"


class ChangeCapture(Protocol):
    """Change data capture from a snapshot and a log. Andreakis, DBLog, 2020.

    Andreakis and Papapanagiotou. A table changes while its rows are read, and each
    change is in its log. The capture keeps a copy, which it saves by checkpoints with
    its position in the log; then it confirms the position, and the database deletes
    the log before it. After a crash it goes on from the checkpoint, and from where the
    log begins. A row counts where the saved copy has its last value.
    """

    role = "capture"

    KEY = KEY
    CHANGE = CHANGE

    snapshot = part(Snapshot)
    slot = part(ReplicationSlot)

    end = state(0, high=CHANGE)
    changed = state(nobody_of(KEY), per=CHANGE)
    value = state(0, high=CHANGE, per=KEY)

    position = state(0, high=CHANGE, volatile=True)
    chunk = state(Chunk.TO_READ, per=KEY, volatile=True)
    held = state(0, high=CHANGE, per=KEY, volatile=True)
    copy = state(0, high=CHANGE + 1, per=KEY, volatile=True)

    saved_position = state(0, high=CHANGE)
    saved_put = state(False, per=KEY)
    saved_copy = state(0, high=CHANGE + 1, per=KEY)
    to_confirm = state(False)

    @action(per=(KEY, CHANGE), by="database")
    def change(self, k: Member, c: Member) -> None:
        """A transaction changes a row; the log has the change."""
        when(self.end == c)
        self.end = c + 1
        self.changed[c] = k
        self.value[k] = c + 1

    @action(per=KEY)
    def begin_chunk(self, k: Member) -> None:
        """The capture is about to read the row of a key."""
        when(self.chunk[k] == Chunk.TO_READ)
        self.chunk[k] = Chunk.BEGUN
        self.snapshot.begin(k, self.end)

    @action(per=KEY)
    def select(self, k: Member) -> None:
        """The capture reads the row, as it is now."""
        when(self.chunk[k] == Chunk.BEGUN)
        self.chunk[k] = Chunk.HELD
        self.held[k] = self.value[k]
        self.snapshot.select(k, self.end)

    @action(per=KEY)
    def put_row(self, k: Member) -> None:
        """The row that was read goes into the copy, unless the log has a later one."""
        when(
            self.chunk[k] == Chunk.HELD,
            any_of(self.snapshot.can_put(k, self.position), not_(self._reads_log())),
        )
        self.chunk[k] = Chunk.PUT
        self.copy[k] = if_else(self.snapshot.counts(k), self.held[k] + 1, self.copy[k])
        self.position = if_else(
            all_of(self.chunk[x] == Chunk.PUT for x in self.KEY),
            self.snapshot.skips_to(self.position, self.end),
            self.position,
        )

    @action(per=(KEY, CHANGE))
    def read_change(self, k: Member, c: Member) -> None:
        """The capture reads the next change of the log into the copy."""
        when(self.position == c, self.end > c, self.changed[c] == k, self._reads_log())
        self.position = c + 1
        self.copy[k] = c + 2
        self.snapshot.see_change(k, c)

    @action
    def checkpoint(self) -> None:
        """The capture saves its copy, and how far it is."""
        when(
            any_of(
                self.position != self.saved_position,
                any_of(
                    (self.chunk[k] == Chunk.PUT) & not_(self.saved_put[k])
                    for k in self.KEY
                ),
            )
        )
        self.saved_position = self.position
        self.saved_put.set(lambda k: self.chunk[k] == Chunk.PUT)
        self.saved_copy.set(lambda k: self.copy[k])
        self.to_confirm = True

    @action
    def confirm(self) -> None:
        """The checkpoint is complete, and is confirmed to the database."""
        when(self.to_confirm)
        self.slot.confirm(self.saved_position, self.position)
        self.to_confirm = False

    @fault
    def crash(self) -> None:
        """The capture dies, and goes on from its checkpoint, if the log does."""
        when(any_of(self.position >= 0, self.to_confirm))
        self.lose_volatile()
        self.position = max_of(self.saved_position, self.slot.confirmed)
        self.copy.set(lambda k: self.saved_copy[k])
        self.chunk.set(lambda k: if_else(self.saved_put[k], Chunk.PUT, Chunk.TO_READ))

    def _reads_log(self) -> bool:
        return self.snapshot.reads_log(
            all_of(self.chunk[k] == Chunk.PUT for k in self.KEY)
        )

    @observe(per=KEY)
    def visible(self, k: Member) -> bool:
        """Whether the saved copy has the row as it is."""
        return self.saved_copy[k] == self.value[k] + 1

    @observe(per=KEY)
    def accepted(self, k: Member) -> bool:
        """Every row is owed."""
        return self.value[k] >= 0

    @observe(per=KEY)
    def expected(self, k: Member) -> int:
        """A copy of the table at its end has each row once."""
        return if_else(self.value[k] >= 0, 1, 0)

    @at_rest
    def all_is_read(self) -> bool:
        """At rest the log is read to its end, and so it is saved."""
        return all_of(
            self.saved_position == self.end, all_of(self.saved_put[k] for k in self.KEY)
        )

    def _is_last(self, k: Member, copied: int, before: int) -> bool:
        """Return whether a row as it is copied is as the log has it up to a place."""
        return all_of(
            copied >= 1,
            all_of(
                all_of(
                    implies(copied == c + 2, (self.changed[c] == k) & (before > c)),
                    implies((self.changed[c] == k) & (before > c), copied >= c + 2),
                )
                for c in self.CHANGE
            ),
        )

    @lemma
    def logs_in_order(self) -> bool:
        """The log has a change at each place before its end, and at no other."""
        return all_of(
            (self.changed[c] != nobody) == (self.end > c) for c in self.CHANGE
        )

    @lemma
    def is_never_ahead(self) -> bool:
        """No position is ahead of the one that it is taken from."""
        return all_of(
            self.position <= self.end,
            self.saved_position <= self.position,
            self.slot.confirmed <= self.saved_position,
        )

    @lemma(per=KEY)
    def logs_each_value(self, k: Member) -> bool:
        """A row has the value of its last change in the log."""
        return self._is_last(k, self.value[k] + 1, self.end)

    @lemma(per=KEY)
    def holds_what_was_selected(self, k: Member) -> bool:
        """A row that is held is as it was at the second mark."""
        return implies(
            self.chunk[k] == Chunk.HELD,
            all_of(
                self.snapshot.low[k] <= self.snapshot.high[k],
                self.snapshot.high[k] <= self.end,
                self._is_last(k, self.held[k] + 1, self.snapshot.high[k]),
            ),
        )

    @lemma(per=(KEY, CHANGE))
    def notices_each_change(self, k: Member, c: Member) -> bool:
        """A row is outdated once a change is read from behind the first mark."""
        return implies(
            all_of(
                any_of(self.chunk[k] == Chunk.BEGUN, self.chunk[k] == Chunk.HELD),
                self.changed[c] == k,
                self.snapshot.low[k] <= c,
                self.position > c,
            ),
            self.snapshot.outdated[k],
        )

    @lemma(per=KEY)
    def marks_before_the_end(self, k: Member) -> bool:
        """The first mark is where the log ended."""
        return self.snapshot.low[k] <= self.end

    @lemma(per=KEY)
    def copies_what_is_read(self, k: Member) -> bool:
        """A row in the copy is as the log has it up to the position."""
        return implies(
            any_of(self.chunk[k] == Chunk.PUT, self.snapshot.outdated[k]),
            self._is_last(k, self.copy[k], self.position),
        )

    @lemma(per=KEY)
    def saves_what_is_read(self, k: Member) -> bool:
        """A row in the saved copy is as the log has it up to the saved position."""
        return implies(
            self.saved_put[k],
            all_of(
                self.chunk[k] == Chunk.PUT,
                self._is_last(k, self.saved_copy[k], self.saved_position),
            ),
        )

    @lemma(per=KEY)
    def saves_the_copy(self, k: Member) -> bool:
        """A row is saved as it is in the copy, unless there is more to save."""
        return implies(
            all_of(
                self.saved_position == self.position,
                implies(self.chunk[k] == Chunk.PUT, self.saved_put[k]),
            ),
            self.saved_copy[k] == self.copy[k],
        )

    @sometimes
    def changes_under_a_chunk(self) -> bool:
        """A row can change after it was read, and before it is in the copy."""
        return any_of(
            all_of(self.chunk[k] == Chunk.HELD, self.held[k] < self.value[k])
            for k in self.KEY
        )

    @sometimes
    def copies_all(self) -> bool:
        """The copy can be as the table is after its last change."""
        return all_of(
            self.end == self.CHANGE.last + 1,
            all_of(self.saved_copy[k] == self.value[k] + 1 for k in self.KEY),
        )
