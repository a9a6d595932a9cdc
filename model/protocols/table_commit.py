"""Commits to a table by writers that do not wait for one another."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import *
from onceproof.model.protocols.parts.table_logs import (
    VERSION,
    WRITER,
    LostReply,
    TableLog,
)


class Doing(Enum):
    """How far a writer is."""

    IDLE = "idle"
    READ = "read"
    PREPARED = "prepared"
    UNKNOWN = "unknown"
    DONE = "done"
    FAILED = "failed"


class TableCommit(Protocol):
    """Optimistic commits to a table's log. Armbrust and others, Delta Lake, VLDB 2020.

    A writer reads the table at a version, writes its files, and puts the next version
    in place if nobody else has. If somebody has, it reads again. A writer may die
    between any two steps, and starts again; the reply to its put may be lost.
    """

    WRITER = WRITER
    VERSION = VERSION

    log = part(TableLog)
    reply = part(LostReply)

    at = state(0, high=VERSION, per=WRITER, volatile=True)
    phase = state(Doing.IDLE, per=WRITER)

    @action(per=(WRITER, VERSION))
    def read(self, w: Member, v: Member) -> None:
        """A writer reads the table up to its last version, and writes its files."""
        when(
            self.phase[w] == Doing.IDLE,
            self.log.readable(),
            not_(self._finds_itself(w)),
            self.log.entry[v] == nobody,
            all_of(implies(u < v, self.log.entry[u] != nobody) for u in self.VERSION),
        )
        self.phase[w] = Doing.READ
        self.at[w] = v

    @action(per=WRITER)
    def find_commit(self, w: Member) -> None:
        """A writer finds a version of its own in the table: it is done."""
        when(
            self.phase[w] == Doing.IDLE,
            self.log.readable(),
            self._finds_itself(w),
        )
        self.phase[w] = Doing.DONE

    @action(per=(WRITER, VERSION))
    def prepare(self, w: Member, v: Member) -> None:
        """A writer does what comes before it puts the next version."""
        when(
            self.phase[w] == Doing.READ,
            self.at[w] == v,
            self.log.can_prepare(v),
        )
        self.phase[w] = Doing.PREPARED
        self.log.prepare(v, w)

    @action(per=(WRITER, VERSION))
    def put(self, w: Member, v: Member) -> None:
        """A writer puts the version in place, and hears that it has."""
        when(self.phase[w] == Doing.PREPARED, self.at[w] == v, self.log.can_put(v, w))
        self.log.put(v, w)
        self.phase[w] = Doing.DONE

    @action(per=(WRITER, VERSION))
    def meet_conflict(self, w: Member, v: Member) -> None:
        """Another writer has that version, so this one begins again."""
        when(
            self.at[w] == v,
            any_of(
                all_of(self.phase[w] == Doing.READ, not_(self.log.can_prepare(v))),
                all_of(self.phase[w] == Doing.PREPARED, not_(self.log.can_put(v, w))),
            ),
        )
        self.phase[w] = Doing.IDLE

    @fault(per=(WRITER, VERSION))
    def lose_reply(self, w: Member, v: Member) -> None:
        """The version is put in place, and the writer does not hear of it."""
        when(self.phase[w] == Doing.PREPARED, self.at[w] == v, self.log.can_put(v, w))
        self.log.put(v, w)
        self.phase[w] = Doing.UNKNOWN

    @action(per=WRITER)
    def begin_again(self, w: Member) -> None:
        """A writer without a reply begins again."""
        when(self.phase[w] == Doing.UNKNOWN, not_(self.reply.gives_up()))
        self.phase[w] = Doing.IDLE

    @action(per=WRITER)
    def give_up(self, w: Member) -> None:
        """A writer without a reply reports that it has failed."""
        when(self.phase[w] == Doing.UNKNOWN, self.reply.gives_up())
        self.phase[w] = Doing.FAILED
        self.reply.clean_up(w)

    @fault(per=WRITER)
    def crash(self, w: Member) -> None:
        """A writer dies, and starts again."""
        when(any_of(self.phase[w] == Doing.READ, self.phase[w] == Doing.PREPARED))
        self.phase[w] = Doing.IDLE
        self.at[w] = 0
        self.log.writer_dies(w)

    def _finds_itself(self, w: Member) -> bool:
        return all_of(self.reply.looks(), self.log.has(w))

    @observe(per=WRITER)
    def visible(self, w: Member) -> int:
        """How often a reader of the table sees what the writer has written."""
        times = count(self.log.entry[v] == w for v in self.VERSION)
        return if_else(self.reply.deleted[w], 0, times)

    @observe(per=WRITER)
    def accepted(self, w: Member) -> bool:
        """Each writer has been given something to write."""
        return any_of(self.phase[w] != Doing.DONE, self.phase[w] == Doing.DONE)

    @observe(per=WRITER)
    def promised(self, w: Member) -> bool:
        """The writer has reported that it is done."""
        return self.phase[w] == Doing.DONE

    @always
    def names_what_is_there(self) -> bool:
        """The log has no gap: a version follows another one."""
        return all_of(
            implies(
                all_of(self.log.entry[v] != nobody, u < v),
                self.log.entry[u] != nobody,
            )
            for u in self.VERSION
            for v in self.VERSION
        )

    @lemma
    def reads_without_gaps(self) -> bool:
        """What a writer has read up to is there."""
        return all_of(
            implies(v < self.at[w], self.log.entry[v] != nobody)
            for w in self.WRITER
            for v in self.VERSION
        )

    @lemma
    def writes_what_is_not_there(self) -> bool:
        """A writer that looks for its version is not about to put it twice."""
        return all_of(
            implies(
                all_of(
                    self.reply.looks(),
                    any_of(
                        self.phase[w] == Doing.READ, self.phase[w] == Doing.PREPARED
                    ),
                ),
                self.log.lacks(w),
            )
            for w in self.WRITER
        )

    @sometimes
    def conflicts(self) -> bool:
        """Two writers can be about to put the same version."""
        return any_of(
            all_of(
                w != x,
                self.at[w] == self.at[x],
                self.phase[w] == Doing.READ,
                self.phase[x] == Doing.READ,
            )
            for w in self.WRITER
            for x in self.WRITER
        )

    @sometimes
    def both_commit(self) -> bool:
        """All writers can be done, with their versions in the table."""
        return all_of(
            all_of(self.phase[w] == Doing.DONE, self.log.has(w)) for w in self.WRITER
        )
