"""Sinks that stage files in tasks and publish them on the driver: two-phase commit."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_less, one_more


class Staged(Sink):
    """Tasks stage; ``commit`` publishes all of a batch at once, unless it is there.

    In the manner of a Python DataSource writer: ``commit`` may be lost, repeated
    after a restart with other files, or followed by ``abort`` after it took effect;
    ``abort`` removes nothing that is published.
    """

    staged = state(False, per=(Sink.BATCH, Sink.PARTITION))
    published = state(False, per=Sink.BATCH)
    due = state(False, per=Sink.BATCH, volatile=True)

    @property
    def aborts(self) -> bool:
        """A failed commit is followed by ``abort``."""
        return True

    def write(self, b: Member, p: Member, a: Member) -> None:
        """Stage the rows of partition ``p``."""
        self.staged[b, p] = True

    def start_commit(self, b: Member) -> None:
        """The batch is due unless it is published."""
        self.due[b] = not_(self.published[b])

    @action(per=Sink.BATCH)
    def publish(self, b: Member) -> None:
        """Publish what is staged, in one atomic step."""
        when(self.due[b])
        self.published[b] = True
        self.due[b] = False

    def finished(self, b: Member) -> bool:
        """``commit`` returns when nothing is due."""
        return not_(self.due[b])

    def abort(self, b: Member) -> None:
        """Remove what is staged and not published."""
        self.staged.where(lambda c, _: all_of(c == b, not_(self.published[b]))).fill(
            value=False
        )

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees what is published."""
        return if_else(self.published[b], 1, 0)


class StagedUnprotected(Sink):
    """Tasks stage; ``commit`` moves the files one by one, and never looks back.

    ``abort`` deletes the files of its messages wherever they lie.
    """

    breaks = ("at-most-once", "effectively-once", "atomic-visibility", "durable")

    files = state(0, high=MOST, per=(Sink.BATCH, Sink.PARTITION))
    due = state(False, per=(Sink.BATCH, Sink.PARTITION), volatile=True)
    moved = state(False, per=(Sink.BATCH, Sink.PARTITION), volatile=True)

    @property
    def aborts(self) -> bool:
        """A failed commit is followed by ``abort``."""
        return True

    def start_commit(self, b: Member) -> None:
        """Every partition's file is due."""
        self.due.where(lambda c, _: c == b).fill(value=True)

    @action(per=(Sink.BATCH, Sink.PARTITION))
    def move(self, b: Member, p: Member) -> None:
        """Move one partition's file to where readers look."""
        when(self.due[b, p])
        self.files.where(lambda c, e: all_of(c == b, self.holds(p, e))).set(
            lambda c, e: one_more(self.files[c, e])
        )
        self.due[b, p] = False
        self.moved[b, p] = True

    def finished(self, b: Member) -> bool:
        """``commit`` returns when every file is moved."""
        return all_of(not_(self.due[b, p]) for p in self.PARTITION)

    def abort(self, b: Member) -> None:
        """Delete the files that this run's messages name."""
        self.files.where(lambda c, e: all_of(c == b, self.moved[c, e])).set(
            lambda c, e: one_less(self.files[c, e])
        )

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees every file that lies there."""
        return self.files[b, e]
