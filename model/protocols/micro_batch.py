"""Micro-batches with an offset log and a commit log, as Spark runs them."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import *
from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.model.protocols.parts.sinks.partition_ledger import PartitionLedger
from onceproof.model.protocols.parts.sinks.sink import Sink


class Driver(Enum):
    """What the driver is doing."""

    DOWN = "down"
    PLANNING = "planning"
    RUNNING = "running"
    COMMITTING = "committing"


class Task(Enum):
    """The state of a task's attempt."""

    IDLE = "idle"
    RUNNING = "running"
    WRITTEN = "written"
    COMMITTED = "committed"
    FAILED = "failed"


class MicroBatch(Protocol):
    """Offset log, tasks, sink, commit log. Spark Structured Streaming, SIGMOD 2018.

    Armbrust and others, Structured Streaming; the steps are those of
    MicroBatchExecution. The source is replayable, and the query deterministic unless
    the sink says otherwise. Both logs survive a crash; the memory of the driver and its
    tasks do not. Left out: speculative attempts, attempts that outlive the driver.
    ``MicroBatchLoggedLater`` has asynchronous progress tracking.
    """

    role = "driver"

    BATCH = Sink.BATCH
    PARTITION = Sink.PARTITION
    ATTEMPT = Sink.ATTEMPT
    rescales = param(0, "how many faults may change the partitioning on restart")

    sink = part(Sink, default=Append)

    offsets = state(0, high=BATCH)
    commits = state(0, high=BATCH)
    driver = state(Driver.DOWN, volatile=True)
    task = state(Task.IDLE, per=(PARTITION, ATTEMPT), volatile=True)
    zombie = state(False, per=(BATCH, PARTITION, ATTEMPT))

    @action
    def restart(self) -> None:
        """The driver starts, and reads where its logs end."""
        when(self.driver == Driver.DOWN)
        self.driver = Driver.PLANNING

    @action(per=BATCH)
    def log_offsets(self, b: Member) -> None:
        """The driver logs which offsets the next batch holds."""
        when(self.driver == Driver.PLANNING, self.offsets == b, self.commits == b)
        self.offsets = b + 1

    @action(per=BATCH)
    def start_batch(self, b: Member) -> None:
        """The driver runs a logged batch that is not committed."""
        when(self.driver == Driver.PLANNING, self.offsets == b + 1, self.commits == b)
        self.driver = Driver.RUNNING

    @action(per=(PARTITION, ATTEMPT))
    def start_task(self, p: Member, a: Member) -> None:
        """An attempt starts when all earlier ones have failed."""
        when(
            self.driver == Driver.RUNNING,
            self.task[p, a] == Task.IDLE,
            all_of(
                implies(x < a, self.task[p, x] == Task.FAILED) for x in self.ATTEMPT
            ),
        )
        self.task[p, a] = Task.RUNNING

    @action(per=(BATCH, PARTITION, ATTEMPT))
    def write(self, b: Member, p: Member, a: Member) -> None:
        """The sink's code in the task has done its work."""
        when(self._runs(b), self.task[p, a] == Task.RUNNING)
        self.task[p, a] = Task.WRITTEN
        self.sink.write(b, p, a)

    @action(per=(PARTITION, ATTEMPT))
    def commit_task(self, p: Member, a: Member) -> None:
        """The coordinator lets one attempt for each partition commit."""
        when(
            self.driver == Driver.RUNNING,
            self.task[p, a] == Task.WRITTEN,
            all_of(self.task[p, x] != Task.COMMITTED for x in self.ATTEMPT),
        )
        self.task[p, a] = Task.COMMITTED

    @action(per=BATCH)
    def start_commit(self, b: Member) -> None:
        """The driver calls the sink once every partition has committed."""
        when(
            self._runs(b),
            all_of(
                any_of(self.task[p, a] == Task.COMMITTED for a in self.ATTEMPT)
                for p in self.PARTITION
            ),
        )
        self.driver = Driver.COMMITTING
        self.sink.start_commit(b)

    @action(per=BATCH)
    def log_commit(self, b: Member) -> None:
        """The driver logs that the batch is done."""
        when(
            self.driver == Driver.COMMITTING,
            self._is_at(b),
            self.sink.finished(b),
        )
        self.commits = b + 1
        self.driver = Driver.PLANNING
        self.task.fill(Task.IDLE)

    @action(per=(BATCH, PARTITION, ATTEMPT))
    def zombie_write(self, b: Member, p: Member, a: Member) -> None:
        """An attempt that was given up does its work after all."""
        when(self.zombie[b, p, a])
        self.zombie[b, p, a] = False
        self.sink.write_late(b, p, a)

    @fault
    def crash(self) -> None:
        """The driver dies, and its tasks with it."""
        when(self.driver != Driver.DOWN)
        self.lose_volatile()

    @fault(per=PARTITION, at_most=rescales)
    def rescale(self, p: Member) -> None:
        """The driver dies; from now on one partition reads what all did."""
        when(
            self.driver != Driver.DOWN,
            all_of(not_(self.sink.merged[q]) for q in self.PARTITION),
            all_of(
                not_(self.zombie[b, q, a])
                for b in self.BATCH
                for q in self.PARTITION
                for a in self.ATTEMPT
            ),
        )
        self.lose_volatile()
        self.sink.merged[p] = True

    @fault(per=(BATCH, PARTITION, ATTEMPT))
    def fail_task(self, b: Member, p: Member, a: Member) -> None:
        """An attempt fails, before or after its work, and another is due."""
        when(self._runs(b), self._alive(p, a), a < self.ATTEMPT.last)
        self.sink.abort_task(b, p, a, self.task[p, a] == Task.WRITTEN)
        self.task[p, a] = Task.FAILED

    @fault(per=(BATCH, PARTITION, ATTEMPT))
    def fail_job(self, b: Member, p: Member, a: Member) -> None:
        """The last attempt fails, and with it the batch and the query."""
        when(self._runs(b), self._alive(p, a), a == self.ATTEMPT.last)
        self.sink.abort_task(b, p, a, self.task[p, a] == Task.WRITTEN)
        self.sink.abort(b)
        self.lose_volatile()

    @fault(per=(BATCH, PARTITION, ATTEMPT))
    def lose_contact(self, b: Member, p: Member, a: Member) -> None:
        """An attempt is given up and replaced, but its process lives on."""
        when(
            self._runs(b),
            self.sink.takes(b),
            self.task[p, a] == Task.RUNNING,
            a < self.ATTEMPT.last,
        )
        self.task[p, a] = Task.FAILED
        self.zombie[b, p, a] = True

    @fault(per=BATCH)
    def fail_commit(self, b: Member) -> None:
        """The sink's commit raises, before or after it took effect; abort follows."""
        when(self.sink.aborts, self.driver == Driver.COMMITTING, self._is_at(b))
        self.sink.abort(b)
        self.lose_volatile()

    @lemma
    def logs_one_batch_ahead(self) -> bool:
        """The offset log is at most one batch ahead of the commit log."""
        return all_of(self.commits <= self.offsets, self.offsets <= self.commits + 1)

    @lemma
    def runs_a_logged_batch(self) -> bool:
        """A batch runs, or is committed, only once its offsets are logged."""
        return implies(
            any_of(self.driver == Driver.RUNNING, self.driver == Driver.COMMITTING),
            self.commits < self.offsets,
        )

    @lemma
    def the_last_attempt_fails_with_the_job(self) -> bool:
        """Another attempt is due for each that has failed."""
        return all_of(
            implies(self.task[p, a] == Task.FAILED, a < self.ATTEMPT.last)
            for p in self.PARTITION
            for a in self.ATTEMPT
        )

    @lemma
    def has_what_its_tasks_wrote(self) -> bool:
        """What the sink says it keeps of a task is so, once that has written."""
        return all_of(
            implies(
                all_of(
                    self._is_at(b),
                    any_of(
                        self.task[p, a] == Task.WRITTEN,
                        self.task[p, a] == Task.COMMITTED,
                    ),
                ),
                self.sink.kept_of_task(b, p),
            )
            for b in self.BATCH
            for p in self.PARTITION
            for a in self.ATTEMPT
        )

    @lemma
    def commits_when_all_tasks_have(self) -> bool:
        """As the driver calls the sink, each partition has committed."""
        return implies(
            self.driver == Driver.COMMITTING,
            all_of(
                any_of(self.task[p, a] == Task.COMMITTED for a in self.ATTEMPT)
                for p in self.PARTITION
            ),
        )

    @lemma
    def keeps_what_is_committed(self) -> bool:
        """What the sink says it keeps of a batch is so, once its code has returned."""
        return all_of(
            implies(self._has_returned(b), self.sink.kept(b)) for b in self.BATCH
        )

    def _has_returned(self, b: Member) -> bool:
        """Return whether the sink's code is through with a batch."""
        committing = all_of(self.driver == Driver.COMMITTING, self._is_at(b))
        return any_of(self.commits > b, all_of(committing, self.sink.finished(b)))

    def _is_at(self, b: Member) -> bool:
        """Return whether ``b`` is the batch that a driver runs, if it runs one."""
        return self.commits == b

    def _runs(self, b: Member) -> bool:
        return all_of(self.driver == Driver.RUNNING, self._is_at(b))

    def _alive(self, p: Member, a: Member) -> bool:
        return any_of(self.task[p, a] == Task.RUNNING, self.task[p, a] == Task.WRITTEN)

    @observe(per=(BATCH, PARTITION))
    def visible(self, b: Member, e: Member) -> int:
        """What a reader of the sink sees."""
        return self.sink.visible(b, e)

    @observe(per=(BATCH, PARTITION))
    def accepted(self, b: Member, e: Member) -> bool:
        """The source holds every event, and can replay it."""
        return True

    @observe(per=(BATCH, PARTITION))
    def promised(self, b: Member, e: Member) -> bool:
        """The commit log says that the batch is done."""
        return self.commits > b

    @observe(per=(BATCH, PARTITION))
    def rejected(self, b: Member, e: Member) -> bool:
        """The engine has moved past the batch, and the event is not there."""
        return all_of(self.commits > b, self.sink.visible(b, e) == 0)

    @observe(per=(BATCH, PARTITION))
    def unit(self, b: Member, e: Member) -> int:
        """Events of one batch belong together."""
        return b

    @sometimes
    def all_done(self) -> bool:
        """Every batch can be committed."""
        return self.commits == self.BATCH.last + 1

    @sometimes
    def died_in_a_batch(self) -> bool:
        """The driver can die between a batch's two log entries."""
        return all_of(self.driver == Driver.DOWN, self.offsets > self.commits)

    @sometimes
    def tried_again(self) -> bool:
        """An attempt can succeed after another has failed."""
        return any_of(
            all_of(self.task[p, a] == Task.FAILED, self.task[p, x] == Task.COMMITTED)
            for p in self.PARTITION
            for a in self.ATTEMPT
            for x in self.ATTEMPT
        )


class MicroBatchRescaled(MicroBatch):
    """The same where a restart may change the partitioning. Spark, Foreach sinks.

    The Structured Streaming Programming Guide: (partition, epoch) names the same data
    only as long as the source gives the same partitions. A sink that knows finished
    work by that pair then drops what is new and repeats what is not.
    """

    breaks = (
        "at-most-once",
        "at-least-once",
        "effectively-once",
        "atomic-visibility",
        "durable",
        "recoverable",
        "agreement",
    )

    rescales = param(1, "how many faults may change the partitioning on restart")
    sink = part(Sink, default=PartitionLedger)
