"""The commit of a batch job's files: tasks, retried stages, and who may commit."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import *
from onceproof.model.protocols.parts.jobs.commit_coordinators import (
    ATTEMPT,
    STAGE,
    CommitCoordinator,
)
from onceproof.model.protocols.parts.jobs.committers import PARTITION, Committer


class Job(Enum):
    """The state of the job."""

    RUNNING = "running"
    COMMITTING = "committing"
    DONE = "done"
    DOWN = "down"


class Attempt(Enum):
    """The state of a task's attempt."""

    IDLE = "idle"
    RUNNING = "running"
    WRITTEN = "written"
    GRANTED = "granted"
    COMMITTED = "committed"
    FAILED = "failed"


class OutputCommit(Protocol):
    """Batch commit of files under a commit coordinator. Spark, SPARK-4879, 2015.

    OutputCommitCoordinator: tasks write aside and ask before they commit. A stage
    whose input is lost is tried again while tasks of its first attempt run on. A job
    whose driver dies, or whose commit raises, is run again.
    """

    role = "driver"

    PARTITION = PARTITION
    STAGE = STAGE
    ATTEMPT = ATTEMPT

    coordinator = part(CommitCoordinator)
    committer = part(Committer)

    job = state(Job.RUNNING)
    again = state(False)
    stage = state(0, high=STAGE, volatile=True)
    task = state(Attempt.IDLE, per=(PARTITION, STAGE, ATTEMPT), volatile=True)

    @action(per=(PARTITION, STAGE, ATTEMPT))
    def start_task(self, p: Member, s: Member, a: Member) -> None:
        """An attempt starts when all earlier ones of its stage have failed."""
        when(
            self.job == Job.RUNNING,
            self.stage == s,
            self.task[p, s, a] == Attempt.IDLE,
            all_of(
                implies(x < a, self.task[p, s, x] == Attempt.FAILED)
                for x in self.ATTEMPT
            ),
            not_(self._committed(p)),
        )
        self.task[p, s, a] = Attempt.RUNNING

    @action(per=(PARTITION, STAGE, ATTEMPT))
    def write(self, p: Member, s: Member, a: Member) -> None:
        """An attempt has written its files, where nobody looks."""
        when(self.job == Job.RUNNING, self.task[p, s, a] == Attempt.RUNNING)
        self.task[p, s, a] = Attempt.WRITTEN

    @action(per=(PARTITION, STAGE, ATTEMPT))
    def ask(self, p: Member, s: Member, a: Member) -> None:
        """An attempt asks for the commit, and is granted it."""
        when(
            self.job == Job.RUNNING,
            self.task[p, s, a] == Attempt.WRITTEN,
            self.coordinator.admits(p, s, a),
        )
        self.coordinator.granted[p, s, a] = True
        self.task[p, s, a] = Attempt.GRANTED

    @action(per=(PARTITION, STAGE, ATTEMPT))
    def commit_task(self, p: Member, s: Member, a: Member) -> None:
        """An attempt that is granted the commit commits."""
        when(self.job == Job.RUNNING, self.task[p, s, a] == Attempt.GRANTED)
        self.task[p, s, a] = Attempt.COMMITTED
        self.committer.commit_task(p)

    @action
    def commit_job(self) -> None:
        """With every partition committed, the driver commits the job."""
        when(
            self.job == Job.RUNNING,
            all_of(self._committed(p) for p in self.PARTITION),
        )
        self.job = Job.COMMITTING
        self.committer.commit_job()

    @action
    def finish(self) -> None:
        """The job's commit has returned."""
        when(self.job == Job.COMMITTING, self.committer.finished())
        self.committer.success = True
        self.job = Job.DONE

    @fault(per=(PARTITION, STAGE, ATTEMPT))
    def fail_task(self, p: Member, s: Member, a: Member) -> None:
        """An attempt that has not committed fails, and loses its grant."""
        when(
            self.job == Job.RUNNING,
            a < self.ATTEMPT.last,
            any_of(
                self.task[p, s, a] == Attempt.RUNNING,
                self.task[p, s, a] == Attempt.WRITTEN,
                self.task[p, s, a] == Attempt.GRANTED,
            ),
        )
        self.task[p, s, a] = Attempt.FAILED
        self.coordinator.granted[p, s, a] = False

    @fault
    def lose_input(self) -> None:
        """A fetch fails: the stage is tried again, and its running tasks run on."""
        when(self.job == Job.RUNNING, self.stage < self.STAGE.last)
        self.stage = self.stage + 1

    @fault
    def crash(self) -> None:
        """The driver dies, and the tasks with it."""
        when(any_of(self.job == Job.RUNNING, self.job == Job.COMMITTING))
        self.lose_volatile()
        self.job = Job.DOWN

    @fault
    def fail_commit(self) -> None:
        """The job's commit raises before its end; the job fails, and cleans up."""
        when(self.job == Job.COMMITTING, not_(self.committer.finished()))
        self.committer.abort_job()
        self.lose_volatile()
        self.job = Job.DOWN

    @action
    def run_again(self) -> None:
        """A job without its mark of success is run again from the beginning."""
        when(self.job == Job.DOWN, not_(self.committer.success))
        self.committer.set_up()
        self.again = True
        self.job = Job.RUNNING

    @action
    def find_success(self) -> None:
        """A job with its mark of success is left as it is."""
        when(self.job == Job.DOWN, self.committer.success)
        self.job = Job.DONE

    def _committed(self, p: Member) -> bool:
        return any_of(
            self.task[p, s, a] == Attempt.COMMITTED
            for s in self.STAGE
            for a in self.ATTEMPT
        )

    @observe(per=PARTITION)
    def visible(self, p: Member) -> int:
        """Readers see every file in the folder."""
        return self.committer.files[p]

    @observe(per=PARTITION)
    def accepted(self, p: Member) -> bool:
        """The job owes every partition."""
        return True

    @observe(per=PARTITION)
    def promised(self, p: Member) -> bool:
        """The job has reported that it is done."""
        return self.job == Job.DONE

    @observe(per=PARTITION)
    def unit(self, p: Member) -> int:
        """The job is one unit."""
        return if_else(p == p, 0, 1)

    @always
    def nothing_is_early(self) -> bool:
        """Nothing is visible of a job that runs for the first time."""
        return implies(
            all_of(self.job == Job.RUNNING, not_(self.again)),
            all_of(self.committer.files[p] == 0 for p in self.PARTITION),
        )

    @lemma(per=(PARTITION, STAGE, ATTEMPT))
    def commits_what_was_granted(self, p: Member, s: Member, a: Member) -> bool:
        """An attempt commits, or is about to, just if it is granted the commit."""
        commits = any_of(
            self.task[p, s, a] == Attempt.GRANTED,
            self.task[p, s, a] == Attempt.COMMITTED,
        )
        return self.coordinator.granted[p, s, a] == commits

    @lemma(per=PARTITION)
    def grants_one_attempt(self, p: Member) -> bool:
        """At most one attempt of a partition is granted the commit."""
        return all_of(
            implies(
                all_of(
                    self.coordinator.granted[p, s, a],
                    self.coordinator.granted[p, x, y],
                ),
                all_of(s == x, a == y),
            )
            for s in self.STAGE
            for a in self.ATTEMPT
            for x in self.STAGE
            for y in self.ATTEMPT
        )

    @lemma(per=PARTITION)
    def has_what_is_committed(self, p: Member) -> bool:
        """Only the files of committed tasks lie aside, and all of them."""
        return all_of(
            implies(
                all_of(self._committed(p), self.job == Job.RUNNING),
                self.committer.has_files_of(p),
            ),
            implies(not_(self._committed(p)), self.committer.aside[p] == 0),
        )

    @lemma(per=(PARTITION, STAGE))
    def spares_the_last_attempt(self, p: Member, s: Member) -> bool:
        """The last attempt of a stage does not fail, or the job would."""
        return self.task[p, s, self.ATTEMPT.last] != Attempt.FAILED

    @lemma
    def is_in_a_stage(self) -> bool:
        """There is a stage that runs, and the last one is not tried again."""
        return self.stage <= self.STAGE.last

    @lemma(per=PARTITION)
    def dies_with_its_tasks(self, p: Member) -> bool:
        """Nothing is known of the tasks of a job that is down."""
        idle = all_of(
            self.task[p, s, a] == Attempt.IDLE for s in self.STAGE for a in self.ATTEMPT
        )
        return implies(self.job == Job.DOWN, idle)

    @lemma
    def marks_what_is_done(self) -> bool:
        """A job has its mark when it is done, and does not run once it has."""
        return all_of(
            implies(self.job == Job.DONE, self.committer.success),
            implies(self.job == Job.RUNNING, not_(self.committer.success)),
        )

    @lemma(per=PARTITION)
    def returns_with_all_files(self, p: Member) -> bool:
        """When the job's commit has returned, each partition has its files."""
        returned = all_of(self.job == Job.COMMITTING, self.committer.finished())
        return implies(returned, self.committer.files[p] > 0)

    @sometimes
    def retries_beside_a_living_task(self) -> bool:
        """Attempts of two stages can run for one partition."""
        return any_of(
            all_of(
                self.task[p, self.STAGE.first, a] == Attempt.RUNNING,
                self.task[p, self.STAGE.last, a] == Attempt.RUNNING,
            )
            for p in self.PARTITION
            for a in self.ATTEMPT
        )

    @sometimes
    def finishes(self) -> bool:
        """The job can be done."""
        return self.job == Job.DONE
