"""How a batch job's files are moved to where readers look."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *

PARTITION = Sort("partition", size=2)
MOST = 2


def one_more(times: int) -> int:
    """Count on, as far as it matters."""
    return min_of(times + 1, MOST)


class Committer(Part):
    """Committed tasks' files lie aside until one atomic step publishes them.

    ``success`` is the mark that a job is done; here it is part of that step. What lies
    aside is of one run of the job: the next one does not find it.
    """

    pipeline_role: ClassVar[str] = "sink"

    PARTITION = PARTITION
    aside = state(0, high=MOST, per=PARTITION, volatile=True)
    files = state(0, high=MOST, per=PARTITION)
    success = state(False)

    def set_up(self) -> None:
        """Prepare for a run of a job that did not end."""

    def commit_task(self, p: Member) -> None:
        """Put the files of a task aside."""
        self.aside[p] = one_more(self.aside[p])

    def commit_job(self) -> None:
        """Publish all that lies aside, and the mark."""
        self.success = True
        self.files.where(lambda p: self.aside[p] > 0).set(self.added)

    def added(self, p: Member) -> int:
        """Count the files of a partition once those aside are there as well."""
        return if_else(self.aside[p] > 1, MOST, one_more(self.files[p]))

    def finished(self) -> bool:
        """Return whether the job's commit has returned."""
        return all_of(p == p for p in self.PARTITION)

    def has_files_of(self, p: Member) -> bool:
        """Return whether the files of a partition's task are where its commit put them.

        It is asked of partitions that are committed in a run that goes on.
        """
        return self.aside[p] == 1

    @lemma
    def publishes_once(self) -> bool:
        """Each partition's files are there once with the mark, and not without it."""
        return all_of(
            if_else(self.success, self.files[p] == 1, self.files[p] == 0)
            for p in self.PARTITION
        )

    def abort_job(self) -> None:
        """Clean up after a job's commit that raised."""


class FileCommitterV1(Committer):
    """The driver moves each committed task's folder to where readers look, one by one.

    Hadoop's FileOutputCommitter, algorithm version 1. A task commits by renaming its
    folder to the job's ``_temporary/0``, in the place of the one that an earlier
    attempt of it put there. The job's commit merges every folder that it lists there;
    a crash in the midst leaves a part of the job visible. A commit that raises is not
    tried again: the job fails, and what lies aside is deleted. A run of the job adds
    to what is there; and since it has another id, yet looks into the same
    ``_temporary/0``, it also publishes the folders that a dead run has left.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-most-once",
        "effectively-once",
        "atomic-visibility",
    )

    publishes_once = None  # type: ignore[assignment]

    lying = state(0, high=MOST, per=PARTITION)
    own = state(False, per=PARTITION, volatile=True)
    due = state(0, high=MOST, per=PARTITION, volatile=True)

    def commit_task(self, p: Member) -> None:
        """Rename the task's folder; one of this run that is there is deleted first."""
        self.lying[p] = if_else(self.own[p], self.lying[p], one_more(self.lying[p]))
        self.own[p] = True

    def has_files_of(self, p: Member) -> bool:
        """A folder of this run was put there."""
        return self.own[p]

    def commit_job(self) -> None:
        """List the folders to merge."""
        self.due.set(lambda p: self.lying[p])

    @action(per=PARTITION)
    def merge(self, p: Member) -> None:
        """Move the files of one folder."""
        when(self.due[p] > 0, self.lying[p] > 0)
        self.due[p] = self.due[p] - 1
        self.lying[p] = self.lying[p] - 1
        self.files[p] = one_more(self.files[p])

    def finished(self) -> bool:
        """The commit returns when every folder is merged."""
        return all_of(self.due[p] == 0 for p in self.PARTITION)

    def abort_job(self) -> None:
        """Delete what lies aside; what is merged stays."""
        self.lying.fill(0)


class FileCommitterV1Overwriting(FileCommitterV1):
    """Version 1 where a run of the job first deletes what is at its output path.

    Spark's mode "overwrite": folders that a dead run has left are deleted with the
    files. What a part of the job made visible is seen until then, and vanishes.
    """

    breaks = ("atomic-visibility", "durable")

    def set_up(self) -> None:
        """Delete the files, and what lies aside."""
        self.files.fill(0)
        self.lying.fill(0)


class FileCommitterV2(Committer):
    """Each task moves its files to where readers look as it commits.

    Hadoop's FileOutputCommitter, algorithm version 2 (MAPREDUCE-7282, SPARK-33019):
    what a failed job has committed is visible, and stays.
    """

    breaks = (
        "at-most-once",
        "effectively-once",
        "atomic-visibility",
        "nothing-is-early",
    )

    publishes_once = None  # type: ignore[assignment]

    def has_files_of(self, p: Member) -> bool:
        """They are where readers look."""
        return self.files[p] > 0

    def commit_task(self, p: Member) -> None:
        """Move the files at once."""
        self.files[p] = one_more(self.files[p])

    def commit_job(self) -> None:
        """Nothing is left to do."""


class DynamicPartitionOverwrite(Committer):
    """The driver replaces each partition that the job wrote: it deletes, then renames.

    Spark's HadoopMapReduceCommitProtocol with ``partitionOverwriteMode=dynamic``. Tasks
    write to a folder under the job's unique id, which another run does not look into.
    A crash after a delete leaves a partition without its old files and without its new
    ones; one between two partitions leaves the table half old and half new. A run of
    the job from its beginning replaces all, so no file is there twice at last.
    """

    breaks = ("atomic-visibility", "durable", "old-or-new")

    publishes_once = None  # type: ignore[assignment]

    old = state(True, per=PARTITION)
    due = state(False, per=PARTITION, volatile=True)
    emptied = state(False, per=PARTITION, volatile=True)

    def commit_job(self) -> None:
        """List the partitions that tasks have written to."""
        self.due.set(lambda p: self.aside[p] > 0)

    @action(per=PARTITION)
    def delete_partition(self, p: Member) -> None:
        """Delete what is in a partition."""
        when(self.due[p], not_(self.emptied[p]))
        self.old[p] = False
        self.files[p] = 0
        self.emptied[p] = True

    @action(per=PARTITION)
    def rename_partition(self, p: Member) -> None:
        """Rename the folder that was written to the partition's."""
        when(self.emptied[p])
        self.files[p] = self.aside[p]
        self.due[p] = False
        self.emptied[p] = False

    def finished(self) -> bool:
        """The commit returns when every partition is replaced."""
        return all_of(not_(self.due[p]) for p in self.PARTITION)

    def abort_job(self) -> None:
        """Delete the job's own folder; partitions stay as they are."""
        self.aside.fill(0)

    @always
    def old_or_new(self) -> bool:
        """A partition has its old files or its new ones."""
        return all_of(any_of(self.old[p], self.files[p] > 0) for p in self.PARTITION)
