"""How a table's next version is put in place, and what a lost reply is taken for."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *

WRITER = Sort("writer", size=2)
VERSION = Sort("version", size=3, ordered=True)


class TableLog(Part):
    """A version is put in place if there is none of that number, in one atomic step.

    So do HDFS by a rename, and object stores by a conditional put.
    """

    pipeline_role: ClassVar[str] = "sink"

    WRITER = WRITER
    VERSION = VERSION

    entry = state(nobody_of(WRITER), per=VERSION)

    def readable(self) -> bool:
        """Return whether a writer can read the log as it is."""
        return all_of(v == v for v in self.VERSION)

    def can_prepare(self, v: Member) -> bool:
        """Return whether a writer finds the number free."""
        return all_of(v == v)

    def prepare(self, v: Member, w: Member) -> None:
        """Do what comes before the put."""

    def can_put(self, v: Member, w: Member) -> bool:
        """Return whether the store takes the version from a writer."""
        return self.entry[v] == nobody

    def put(self, v: Member, w: Member) -> None:
        """Put the version in place, with what the writer has written."""
        self.entry[v] = w

    def writer_dies(self, w: Member) -> None:
        """A writer dies, whatever it was doing."""

    def has(self, w: Member) -> bool:
        """Return whether a version is the writer's."""
        return any_of(self.entry[v] == w for v in self.VERSION)

    def lacks(self, w: Member) -> bool:
        """Return whether no version is the writer's while it is about to put one."""
        return all_of(self.entry[v] != w for v in self.VERSION)


class CheckThenPut(TableLog):
    """A writer looks whether the version is there, and then puts it, come what may.

    Delta on S3 without a lock table, before S3 had conditional puts.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
    )

    def can_prepare(self, v: Member) -> bool:
        """The version is not there as the writer looks."""
        return self.entry[v] == nobody

    def can_put(self, v: Member, w: Member) -> bool:
        """The store overwrites."""
        return all_of(v == v)


class LockTable(CheckThenPut):
    """A row for the version is put in a table first, if there is none.

    S3DynamoDBLogStore: the row names a copy of the version. Where a writer dies before
    it has put the version, whoever comes next puts it from the copy.
    """

    breaks: ClassVar[tuple[str, ...]] = ()

    row = state(nobody_of(WRITER), per=VERSION)
    complete = state(False, per=VERSION)

    def readable(self) -> bool:
        """A version whose row is not complete is put first."""
        return all_of(
            any_of(self.row[v] == nobody, self.complete[v]) for v in self.VERSION
        )

    def can_prepare(self, v: Member) -> bool:
        """There is no row."""
        return self.row[v] == nobody

    def lacks(self, w: Member) -> bool:
        """Another writer may put the version meanwhile, from its copy."""
        return all_of(w == w)

    def prepare(self, v: Member, w: Member) -> None:
        """Put the row, in one atomic step with the look."""
        self.row[v] = w
        self.complete[v] = False

    @action(per=(VERSION, WRITER))
    def put_from_copy(self, v: Member, w: Member) -> None:
        """Put a version from the copy that its row names."""
        when(self.row[v] == w, not_(self.complete[v]), self.entry[v] == nobody)
        self.entry[v] = w

    @action(per=(VERSION, WRITER))
    def mark_complete(self, v: Member, w: Member) -> None:
        """Note in the row that the version is in place."""
        when(self.row[v] == w, not_(self.complete[v]), self.entry[v] == w)
        self.complete[v] = True


class LockTableExpiring(LockTable):
    """A lock table where the row of a version that is in place is deleted in the end.

    Delta #1410: a writer that has read the table before puts the same version again.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
    )

    @fault(per=VERSION)
    def expire(self, v: Member) -> None:
        """The row's time to live is over."""
        when(self.complete[v])
        self.row[v] = nobody
        self.complete[v] = False


class LockTableExpiringLooked(LockTableExpiring):
    """An expiring lock table; a writer also looks whether the version is in place.

    Assumes that a row lives longer than a writer takes from its look to its row.
    """

    breaks: ClassVar[tuple[str, ...]] = ()

    def can_prepare(self, v: Member) -> bool:
        """There is neither a row nor the version."""
        return all_of(self.row[v] == nobody, self.entry[v] == nobody)


class CatalogSwap(TableLog):
    """A catalog names the table's metadata, and swaps the name if it is the one read.

    Iceberg: a writer puts metadata of its own, with the versions that it has read and
    the next one, under a name that no other writer takes. The table is what the
    metadata says that the catalog names; what it never names is not seen.
    """

    metadata = state(nobody_of(WRITER), per=(WRITER, VERSION))

    def prepare(self, v: Member, w: Member) -> None:
        """Put metadata: the versions before, and the writer's own."""
        self.metadata.where(lambda x, u: all_of(x == w, u < v)).set(
            lambda _, u: self.entry[u]
        )
        self.metadata[w, v] = w
        self.metadata.where(lambda x, u: all_of(x == w, u > v)).fill(nobody)

    def can_put(self, v: Member, w: Member) -> bool:
        """The catalog names what the writer has read."""
        return all_of(
            self.entry[v] == nobody,
            all_of(
                implies(u < v, self.entry[u] == self.metadata[w, u])
                for u in self.VERSION
            ),
        )

    def put(self, v: Member, w: Member) -> None:
        """Name the writer's metadata: the table is what it says."""
        self.entry.set(lambda u: self.metadata[w, u])


class CatalogLock(CatalogSwap):
    """A writer locks the table, compares, and then names its metadata unconditionally.

    Iceberg on Hive's metastore, with the lock that is its default. The holder of a lock
    sends heartbeats. If they stop for too long, the lock expires: its holder may be
    dead. One that only pauses, goes on, and does not ask again (Iceberg #15446).
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
    )

    lock = state(nobody_of(WRITER))
    abandoned = state(False)

    def can_prepare(self, v: Member) -> bool:
        """The lock is free, and the table is as the writer has read it."""
        return all_of(self.lock == nobody, self.entry[v] == nobody)

    def prepare(self, v: Member, w: Member) -> None:
        """Take the lock, and put the metadata."""
        super().prepare(v, w)
        self.lock = w

    def can_put(self, v: Member, w: Member) -> bool:
        """The metastore takes whatever name it is given."""
        return all_of(v == v)

    def put(self, v: Member, w: Member) -> None:
        """Name the metadata, and free the lock if it is still the writer's."""
        super().put(v, w)
        self.lock = if_else(self.lock == w, nobody, self.lock)

    def writer_dies(self, w: Member) -> None:
        """Nobody sends heartbeats for its lock any more."""
        self.abandoned = any_of(self.abandoned, self.lock == w)

    @action
    def expire(self) -> None:
        """The lock of a writer that has died expires."""
        when(self.abandoned)
        self.lock = nobody
        self.abandoned = False

    @fault
    def time_out(self) -> None:
        """The lock of a writer that pauses expires."""
        when(self.lock != nobody, not_(self.abandoned))
        self.lock = nobody


class LostReply(Part):
    """A writer that does not know whether it committed looks whether it has."""

    WRITER = WRITER

    deleted = state(False, per=WRITER)

    def looks(self) -> bool:
        """Return whether a writer looks for a version of its own."""
        return all_of(w == w for w in self.WRITER)

    def gives_up(self) -> bool:
        """Return whether a commit without a reply is reported as failed."""
        return not_(all_of(w == w for w in self.WRITER))

    def clean_up(self, w: Member) -> None:
        """Clean up after a commit that failed."""

    @lemma
    def deletes_nothing(self) -> bool:
        """No writer deletes what it has written."""
        return all_of(not_(self.deleted[w]) for w in self.WRITER)


class TakenForFailure(LostReply):
    """No reply is a failure, and what a failed commit has written is deleted.

    Iceberg before CommitStateUnknownException: the table names files that are gone.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
    )

    deletes_nothing = None  # type: ignore[assignment]

    def gives_up(self) -> bool:
        """The commit has failed."""
        return all_of(w == w for w in self.WRITER)

    def clean_up(self, w: Member) -> None:
        """Delete the files."""
        self.deleted[w] = True


class TriedAgain(LostReply):
    """A writer that does not know commits once more, as a new version."""

    breaks: ClassVar[tuple[str, ...]] = ("at-most-once", "effectively-once")

    def looks(self) -> bool:
        """It does not."""
        return not_(all_of(w == w for w in self.WRITER))
