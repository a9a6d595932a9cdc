"""Models of micro-batches, each with a mistake that a modeller could make.

Each forbids something that Spark does, so that a real run is no behaviour of it.
"""

from __future__ import annotations

from onceproof.model.language import (
    Member,
    action,
    all_of,
    any_of,
    implies,
    not_,
    state,
    when,
)
from onceproof.model.protocols.micro_batch import Driver, MicroBatch, Task
from onceproof.model.protocols.parts.sinks.manifest import Manifest
from onceproof.model.protocols.parts.sinks.sink import Sink


class OffsetsAfterTheBatch(MicroBatch):
    """The driver logs the offsets of a batch once the sink is called."""

    @action(per=MicroBatch.BATCH)
    def log_offsets(self, b: Member) -> None:
        when(self.driver == Driver.COMMITTING, self.offsets == b, self.commits == b)
        self.offsets = b + 1

    @action(per=MicroBatch.BATCH)
    def start_batch(self, b: Member) -> None:
        when(self.driver == Driver.PLANNING, self.commits == b)
        self.driver = Driver.RUNNING


class OffsetsInMemory(MicroBatch):
    """A restart has lost which offsets were logged."""

    @action
    def restart(self) -> None:
        when(self.driver == Driver.DOWN)
        self.driver = Driver.PLANNING
        self.offsets = self.commits


class CommitsInMemory(MicroBatch):
    """A restart has lost which batches were done."""

    @action
    def restart(self) -> None:
        when(self.driver == Driver.DOWN)
        self.driver = Driver.PLANNING
        self.commits = 0


class CommitBeforeTheSink(MicroBatch):
    """The batch is logged as done, and then the sink is called."""

    @action(per=MicroBatch.BATCH)
    def log_commit(self, b: Member) -> None:
        done = all_of(
            any_of(self.task[p, a] == Task.COMMITTED for a in self.ATTEMPT)
            for p in self.PARTITION
        )
        when(self.driver == Driver.RUNNING, self.commits == b, done)
        self.commits = b + 1
        self.driver = Driver.COMMITTING

    @action(per=MicroBatch.BATCH)
    def start_commit(self, b: Member) -> None:
        when(self.driver == Driver.COMMITTING, self.commits == b + 1)
        self.driver = Driver.PLANNING
        self.sink.start_commit(b)
        self.task.fill(Task.IDLE)


class OneTaskAtATime(MicroBatch):
    """A task starts once no other partition's is at work, or about to commit."""

    @action(per=(MicroBatch.PARTITION, MicroBatch.ATTEMPT))
    def start_task(self, p: Member, a: Member) -> None:
        when(
            self.driver == Driver.RUNNING,
            self.task[p, a] == Task.IDLE,
            all_of(
                implies(x < a, self.task[p, x] == Task.FAILED) for x in self.ATTEMPT
            ),
            all_of(
                implies(q != p, not_(self._alive(q, x)))
                for q in self.PARTITION
                for x in self.ATTEMPT
            ),
        )
        self.task[p, a] = Task.RUNNING


class NoSecondAttempt(MicroBatch):
    """A task that fails ends the query."""

    @action(per=(MicroBatch.PARTITION, MicroBatch.ATTEMPT))
    def start_task(self, p: Member, a: Member) -> None:
        when(self.driver == Driver.RUNNING, self.task[p, a] == Task.IDLE, a == 0)
        self.task[p, a] = Task.RUNNING


class LoggedIsDone(MicroBatch):
    """A restart takes a batch whose offsets are logged for done."""

    @action
    def restart(self) -> None:
        when(self.driver == Driver.DOWN)
        self.driver = Driver.PLANNING
        self.commits = self.offsets


class TasksOutliveTheDriver(MicroBatch):
    """A restart goes on with the tasks that were done before."""

    task = state(Task.IDLE, per=(MicroBatch.PARTITION, MicroBatch.ATTEMPT))


class NextBatchFirst(MicroBatch):
    """The next batch is planned before the one at hand is logged as done."""

    @action(per=MicroBatch.BATCH)
    def log_commit(self, b: Member) -> None:
        last = b == self.BATCH.last
        when(
            self.driver == Driver.COMMITTING,
            self.commits == b,
            self.sink.finished(b),
            any_of(last, self.offsets == b + 2),
        )
        self.commits = b + 1
        self.driver = Driver.PLANNING
        self.task.fill(Task.IDLE)

    @action(per=MicroBatch.BATCH)
    def log_offsets(self, b: Member) -> None:
        first = all_of(b == 0, self.driver == Driver.PLANNING)
        when(any_of(first, self.driver == Driver.COMMITTING), self.offsets == b)
        self.offsets = b + 1


class ManifestByTasks(Manifest):
    """The first task that is done names the files of its batch."""

    def write(self, b: Member, p: Member, a: Member) -> None:
        super().write(b, p, a)
        self.manifest[b] = True


class ManifestOnce(Manifest):
    """Only one batch is ever added to the manifest."""

    @action(per=Sink.BATCH)
    def add_to_manifest(self, b: Member) -> None:
        when(self.due[b], all_of(not_(self.manifest[c]) for c in self.BATCH))
        self.manifest[b] = True
        self.due[b] = False
