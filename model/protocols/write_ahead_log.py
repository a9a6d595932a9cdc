"""A database that logs before it applies, and redoes and undoes as it restarts."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import *
from onceproof.model.protocols.parts.log_rules import (
    MOST,
    HeardOnceFlushed,
    LogBeforePage,
    RedoByPage,
)


class LastRecord(Enum):
    """The last record of the log about a row."""

    NONE = "none"
    CHANGED = "changed"
    UNDONE = "undone"


class Database(Enum):
    """What the database is doing."""

    OPEN = "open"
    DOWN = "down"
    REDOING = "redoing"
    UNDOING = "undoing"


class LoggedTransaction(Enum):
    """How far a transaction is, as the database has it in memory."""

    IDLE = "idle"
    ACTIVE = "active"
    COMMITTED = "committed"


class WriteAheadLog(Protocol):
    """Log before apply, redo and undo at restart. Mohan and others, ARIES, TODS 1992.

    A transaction adds to a row of each page, and each change has a record in the log.
    Pages are written at any time that the rule of the log allows, so the disk has
    changes that did not commit, and lacks some that did. A restart redoes what the log
    has, and undoes what did not commit. A client tries again until it hears of the
    commit, and looks first whether it is there. Readers see no open transaction. Left
    out: a flush that is torn, checkpoints, and locks that transactions wait for.
    """

    role = "database"

    T = Sort("transaction", size=2)
    P = Sort("page", size=2)

    pages = part(LogBeforePage)
    hearing = part(HeardOnceFlushed)
    redoing = part(RedoByPage)

    phase = state(Database.OPEN)
    progress = state(LoggedTransaction.IDLE, per=T, volatile=True)
    record = state(LastRecord.NONE, per=(T, P), volatile=True)
    cached = state(0, high=MOST, per=(T, P), volatile=True)
    redone = state(False, per=P, volatile=True)

    flushed = state(LastRecord.NONE, per=(T, P))
    commit_flushed = state(False, per=T)
    on_disk = state(0, high=MOST, per=(T, P))

    heard = state(False, per=T)
    shown = state(0, high=MOST, per=(T, P))

    @action(per=T)
    def begin(self, t: Member) -> None:
        """A client's transaction begins; one that has committed is found instead."""
        when(
            self._open(),
            self.progress[t] == LoggedTransaction.IDLE,
            not_(self.commit_flushed[t]),
            not_(self.heard[t]),
        )
        self.progress[t] = LoggedTransaction.ACTIVE

    @action(per=(T, P))
    def change(self, t: Member, p: Member) -> None:
        """The transaction adds to its row of a page, with a record in the log."""
        when(
            self._open(),
            self.progress[t] == LoggedTransaction.ACTIVE,
            self.record[t, p] != LastRecord.CHANGED,
        )
        self.record[t, p] = LastRecord.CHANGED
        self.cached[t, p] = min_of(self.cached[t, p] + 1, MOST)

    @action(per=T)
    def commit(self, t: Member) -> None:
        """The transaction's record of its commit is in the log's memory."""
        when(
            self._open(),
            self.progress[t] == LoggedTransaction.ACTIVE,
            all_of(self.record[t, p] == LastRecord.CHANGED for p in self.P),
        )
        self.progress[t] = LoggedTransaction.COMMITTED

    @action
    def flush(self) -> None:
        """The log's memory is written to disk."""
        when(
            self.phase != Database.DOWN,
            self.phase != Database.REDOING,
            any_of(
                any_of(
                    self.record[t, p] != self.flushed[t, p]
                    for t in self.T
                    for p in self.P
                ),
                any_of(
                    all_of(self._committed(t), not_(self.commit_flushed[t]))
                    for t in self.T
                ),
            ),
        )
        self.flushed.set(lambda t, p: self.record[t, p])
        self.commit_flushed.set(
            lambda t: any_of(self.commit_flushed[t], self._committed(t))
        )

    @action(per=P)
    def write_page(self, p: Member) -> None:
        """A page is written to disk, whoever has changed it."""
        when(
            self.phase != Database.DOWN,
            self.phase != Database.REDOING,
            any_of(self.on_disk[t, p] != self.cached[t, p] for t in self.T),
            self.pages.can_write(
                all_of(self.record[t, p] == self.flushed[t, p] for t in self.T)
            ),
        )
        self.on_disk.where(lambda _, q: q == p).set(lambda t, q: self.cached[t, q])

    @action(per=T, by="client")
    def hear(self, t: Member) -> None:
        """The client hears that its transaction is committed, and sees its rows."""
        when(
            self._open(),
            not_(self.heard[t]),
            any_of(self._committed(t), self.commit_flushed[t]),
            self.hearing.can_hear(self.commit_flushed[t]),
        )
        self.heard[t] = True
        self.shown.where(lambda u, _: u == t).set(lambda u, p: self.cached[u, p])

    @action(per=T, by="reader")
    def read(self, t: Member) -> None:
        """A reader reads the rows of a transaction that is not open."""
        when(
            self._open(),
            self.progress[t] != LoggedTransaction.ACTIVE,
            any_of(self.shown[t, p] != self.cached[t, p] for p in self.P),
            self.hearing.can_hear(
                any_of(
                    self.commit_flushed[t], self.progress[t] == LoggedTransaction.IDLE
                )
            ),
        )
        self.shown.where(lambda u, _: u == t).set(lambda u, p: self.cached[u, p])

    @fault
    def crash(self) -> None:
        """The database dies, and with it all that is in memory."""
        when(self.phase != Database.DOWN)
        self.lose_volatile()
        self.phase = Database.DOWN

    @action
    def restart(self) -> None:
        """The database reads its pages and its log."""
        when(self.phase == Database.DOWN)
        self.phase = Database.REDOING
        self.cached.set(lambda t, p: self.on_disk[t, p])
        self.record.set(lambda t, p: self.flushed[t, p])

    @action(per=P)
    def redo(self, p: Member) -> None:
        """The changes of the log are repeated on a page."""
        when(self.phase == Database.REDOING, not_(self.redone[p]))
        self.redone[p] = True
        self.cached.where(lambda _, q: q == p).set(
            lambda t, q: if_else(
                self.record[t, q] == LastRecord.CHANGED,
                self.redoing.redone(self.cached[t, q]),
                if_else(self.record[t, q] == LastRecord.UNDONE, 0, self.cached[t, q]),
            )
        )

    @action
    def begin_undo(self) -> None:
        """All is redone: the pages are as they were at the crash."""
        when(
            self.phase == Database.REDOING,
            all_of(self.redone[p] for p in self.P),
        )
        self.phase = Database.UNDOING

    @action(per=T)
    def undo(self, t: Member) -> None:
        """The changes of a transaction that did not commit are undone, and logged."""
        when(self.phase == Database.UNDOING, self._loses(t))
        self.cached.where(
            lambda u, p: all_of(u == t, self.record[u, p] == LastRecord.CHANGED)
        ).fill(0)
        self.record.where(
            lambda u, p: all_of(u == t, self.record[u, p] == LastRecord.CHANGED)
        ).fill(LastRecord.UNDONE)

    @action
    def open(self) -> None:
        """Nothing is left to undo: clients and readers come back."""
        when(
            self.phase == Database.UNDOING,
            all_of(not_(self._loses(t)) for t in self.T),
        )
        self.phase = Database.OPEN

    def _open(self) -> bool:
        return self.phase == Database.OPEN

    def _committed(self, t: Member) -> bool:
        return self.progress[t] == LoggedTransaction.COMMITTED

    def _loses(self, t: Member) -> bool:
        return all_of(
            not_(self.commit_flushed[t]),
            any_of(self.record[t, p] == LastRecord.CHANGED for p in self.P),
        )

    @observe(per=(T, P))
    def visible(self, t: Member, p: Member) -> int:
        """Readers have seen the row as it is here."""
        return self.shown[t, p]

    @observe(per=(T, P))
    def accepted(self, t: Member, p: Member) -> bool:
        """Each client wants its transaction."""
        return True

    @observe(per=(T, P))
    def promised(self, t: Member, p: Member) -> bool:
        """The client has heard that its transaction is committed."""
        return self.heard[t]

    @observe(per=(T, P))
    def unit(self, t: Member, p: Member) -> int:
        """The rows of one transaction belong together."""
        return t

    @lemma(per=(T, P))
    def holds_what_is_logged(self, t: Member, p: Member) -> bool:
        """A row has its change once the log has it, unless its page is to be redone."""
        return implies(
            all_of(
                self.phase != Database.DOWN,
                any_of(self.phase != Database.REDOING, self.redone[p]),
            ),
            self.cached[t, p] == if_else(self.record[t, p] == LastRecord.CHANGED, 1, 0),
        )

    @lemma(per=P)
    def redoes_after_a_restart(self, p: Member) -> bool:
        """No page is redone while the database is down."""
        return implies(self.phase == Database.DOWN, not_(self.redone[p]))

    @lemma(per=(T, P))
    def reads_what_is_on_disk(self, t: Member, p: Member) -> bool:
        """A restart begins with the log, and the pages, as they are on disk."""
        return implies(
            self.phase == Database.REDOING,
            all_of(
                self.record[t, p] == self.flushed[t, p],
                any_of(self.redone[p], self.cached[t, p] == self.on_disk[t, p]),
            ),
        )

    @lemma(per=(T, P))
    def logs_before_it_writes(self, t: Member, p: Member) -> bool:
        """A page has one change of a row at most, and only once the log has it."""
        return all_of(
            self.on_disk[t, p] <= 1,
            implies(self.flushed[t, p] == LastRecord.NONE, self.on_disk[t, p] == 0),
        )

    @lemma(per=(T, P))
    def knows_what_is_flushed(self, t: Member, p: Member) -> bool:
        """The log in memory has all that the log on disk has."""
        return implies(
            all_of(
                self.phase != Database.DOWN,
                self.record[t, p] == LastRecord.NONE,
            ),
            self.flushed[t, p] == LastRecord.NONE,
        )

    @lemma(per=T)
    def serves_clients_once_open(self, t: Member) -> bool:
        """No transaction is under way before the database is open."""
        return any_of(self._open(), self.progress[t] == LoggedTransaction.IDLE)

    @lemma(per=(T, P))
    def logs_before_it_commits(self, t: Member, p: Member) -> bool:
        """A commit is in memory, or on disk, only after all of its changes."""
        changed = self.record[t, p] == LastRecord.CHANGED
        return all_of(
            implies(self._committed(t), changed),
            implies(
                self.commit_flushed[t],
                all_of(
                    self.flushed[t, p] == LastRecord.CHANGED,
                    any_of(self.phase == Database.DOWN, changed),
                ),
            ),
        )

    @lemma(per=(T, P))
    def undoes_what_is_lost(self, t: Member, p: Member) -> bool:
        """Once open, a change is committed, or its transaction is under way."""
        return implies(
            all_of(self._open(), self.record[t, p] == LastRecord.CHANGED),
            any_of(self.commit_flushed[t], self.progress[t] != LoggedTransaction.IDLE),
        )

    @lemma(per=(T, P))
    def shows_what_is_committed(self, t: Member, p: Member) -> bool:
        """A row is seen once at most, and only if its commit is on disk."""
        return all_of(
            self.shown[t, p] <= 1,
            implies(self.shown[t, p] > 0, self.commit_flushed[t]),
            implies(
                self.heard[t], all_of(self.commit_flushed[t], self.shown[t, p] == 1)
            ),
        )

    @lemma(per=(T, P, P))
    def shows_a_transaction_whole(self, t: Member, p: Member, q: Member) -> bool:
        """All rows of a transaction are seen, or none."""
        return self.shown[t, p] == self.shown[t, q]

    @sometimes
    def has_less_on_disk(self) -> bool:
        """A committed change can be in the log alone, with the database down."""
        return any_of(
            all_of(
                self.phase == Database.DOWN,
                self.commit_flushed[t],
                self.on_disk[t, p] == 0,
            )
            for t in self.T
            for p in self.P
        )

    @sometimes
    def has_more_on_disk(self) -> bool:
        """A page can hold a change that did not commit, with the database down."""
        return any_of(
            all_of(
                self.phase == Database.DOWN,
                not_(self.commit_flushed[t]),
                self.on_disk[t, p] > 0,
            )
            for t in self.T
            for p in self.P
        )

    @sometimes
    def commits_all(self) -> bool:
        """Every client can hear of its commit, with the rows on disk."""
        return all_of(
            all_of(self.heard[t], self.on_disk[t, p] > 0)
            for t in self.T
            for p in self.P
        )
