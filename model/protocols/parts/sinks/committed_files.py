"""Sinks of files that tasks prepare, and that a committer of Hadoop's publishes."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.sink import MOST, Sink, one_less, one_more


class PublishedByTask(Sink):
    """Each task publishes its file as it commits; nothing has a key.

    So does FileOutputCommitter with algorithm 2. Attempts of a task give the file the
    same name, so one replaces another; a driver that starts again gives it another
    name. Left out: that an attempt which was given up is not let commit.
    """

    breaks = ("at-most-once", "effectively-once", "atomic-visibility")

    files = state(0, high=MOST, per=(Sink.BATCH, Sink.PARTITION))
    written = state(False, per=(Sink.BATCH, Sink.PARTITION), volatile=True)
    named = state(False, per=(Sink.BATCH, Sink.PARTITION), volatile=True)

    def write(self, b: Member, p: Member, a: Member) -> None:
        """Write a file where no reader looks."""
        self.written[b, p] = True

    def abort_task(self, b: Member, p: Member, a: Member, wrote: bool) -> None:  # noqa: FBT001 - a modelled value
        """Delete the file, unless it is published."""
        self.written[b, p] = all_of(self.written[b, p], not_(wrote))

    @action(per=(Sink.BATCH, Sink.PARTITION))
    def publish(self, b: Member, p: Member) -> None:
        """Rename the file to where readers look."""
        when(self.written[b, p])
        self.written[b, p] = False
        self.files.where(
            lambda c, e: all_of(c == b, self.holds(p, e), not_(self.named[b, p]))
        ).set(lambda c, e: one_more(self.files[c, e]))
        self.named[b, p] = True

    def finished(self, b: Member) -> bool:
        """The job is done when every task has committed."""
        return all_of(not_(self.written[b, p]) for p in self.PARTITION)

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees every file."""
        return self.files[b, e]


class PublishedByJob(Sink):
    """The driver publishes the files of a batch, one by one; nothing has a key.

    Tasks upload them where no reader looks. So do the magic and the staging committers
    of S3A: a job completes the uploads of its own tasks alone, so those of a driver
    that died stay unseen.
    """

    breaks = ("at-most-once", "effectively-once", "atomic-visibility")

    files = state(0, high=MOST, per=(Sink.BATCH, Sink.PARTITION))
    due = state(False, per=Sink.BATCH, volatile=True)
    uploaded = state(False, per=(Sink.BATCH, Sink.PARTITION), volatile=True)

    def start_commit(self, b: Member) -> None:
        """The batch is due, whatever lies there."""
        self.due[b] = True

    @action(per=Sink.BATCH)
    def commit_job(self, b: Member) -> None:
        """Find the uploads of all tasks."""
        when(self.due[b])
        self.due[b] = False
        self.uploaded.where(lambda c, _: c == b).fill(value=True)

    @action(per=(Sink.BATCH, Sink.PARTITION))
    def publish(self, b: Member, p: Member) -> None:
        """Complete the upload of one partition's file."""
        when(self.uploaded[b, p])
        self.uploaded[b, p] = False
        self.files.where(lambda c, e: all_of(c == b, self.holds(p, e))).set(
            lambda c, e: one_more(self.files[c, e])
        )

    def finished(self, b: Member) -> bool:
        """The callback returns when every file is published."""
        return all_of(
            not_(self.due[b]),
            all_of(not_(self.uploaded[b, p]) for p in self.PARTITION),
        )

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees every file."""
        return self.files[b, e]


class MovedByJob(Sink):
    """The driver moves the files of all tasks that lie there; nothing has a key.

    So does FileOutputCommitter with algorithm 1. What the tasks of a job have committed
    lies in ``_temporary`` until it is moved, and the job's own name is not part of its
    path: the next job moves what a driver that died has left, besides its own. A job
    that fails deletes all of it. Left out: drivers that die when some of the tasks have
    committed.
    """

    breaks = ("at-most-once", "effectively-once", "atomic-visibility")

    files = state(0, high=MOST, per=(Sink.BATCH, Sink.PARTITION))
    temporary = state(0, high=MOST, per=(Sink.BATCH, Sink.PARTITION))
    due = state(False, per=Sink.BATCH, volatile=True)
    moving = state(False, volatile=True)

    def start_commit(self, b: Member) -> None:
        """The batch is due, whatever lies there."""
        self.due[b] = True

    @action(per=Sink.BATCH)
    def commit_job(self, b: Member) -> None:
        """Find the files of this job's tasks, and those that lay there before."""
        when(self.due[b])
        self.due[b] = False
        self.moving = True
        self.temporary.where(lambda c, _: c == b).set(
            lambda c, e: one_more(self.temporary[c, e])
        )

    @action(per=(Sink.BATCH, Sink.PARTITION))
    def move(self, b: Member, p: Member) -> None:
        """Move a file to where readers look."""
        when(self.moving, self.temporary[b, p] > 0)
        self.temporary[b, p] = one_less(self.temporary[b, p])
        self.files.where(lambda c, e: all_of(c == b, self.holds(p, e))).set(
            lambda c, e: one_more(self.files[c, e])
        )

    def finished(self, b: Member) -> bool:
        """The callback returns when nothing is left to move."""
        return all_of(
            not_(self.due[b]),
            all_of(
                self.temporary[c, p] == 0 for c in self.BATCH for p in self.PARTITION
            ),
        )

    def abort(self, b: Member) -> None:
        """Delete what is not moved yet."""
        self.temporary.fill(0)

    def visible(self, b: Member, e: Member) -> int:
        """A reader sees every file."""
        return self.files[b, e]
