"""Models of queries with state, each with a mistake that a modeller could make.

Each forbids something that Spark does, so that a real run is no behaviour of it.
"""

from __future__ import annotations

from onceproof.model.language import (
    Member,
    action,
    all_of,
    not_,
    state,
    when,
)
from onceproof.model.protocols.micro_batch import Driver, Task
from onceproof.model.protocols.micro_batch_stateful import MicroBatchStatefulIdle

BATCH = MicroBatchStatefulIdle.BATCH
PARTITION = MicroBatchStatefulIdle.PARTITION
ATTEMPT = MicroBatchStatefulIdle.ATTEMPT


class StateBySinkAlone(MicroBatchStatefulIdle):
    """Tasks commit their state once the sink has the results."""

    @action(per=(BATCH, PARTITION, ATTEMPT))
    def commit_state(self, b: Member, p: Member, a: Member) -> None:
        when(self.driver == Driver.COMMITTING, self.commits == b)
        self.task[p, a] = Task.WRITTEN
        self.versions.commit(b, p)


class StateCommittedOnce(MicroBatchStatefulIdle):
    """Only a task's first attempt commits state."""

    @action(per=(BATCH, PARTITION, ATTEMPT))
    def commit_state(self, b: Member, p: Member, a: Member) -> None:
        when(a == 0)
        super().commit_state(b, p, a)


class WatermarkInMemory(MicroBatchStatefulIdle):
    """A restart has lost the watermark."""

    @action
    def restart(self) -> None:
        super().restart()
        self.logged = 0


class WatermarkAtOnce(MicroBatchStatefulIdle):
    """A batch begins with the watermark of its own events."""

    @action(per=BATCH)
    def log_offsets(self, b: Member) -> None:
        super().log_offsets(b)
        self.begins[b] = b + 1


class SkippedBatchMovesTheWatermark(MicroBatchStatefulIdle):
    """The watermark moves on with each batch, whether its tasks ran or not."""

    @action(per=BATCH)
    def log_commit(self, b: Member) -> None:
        super().log_commit(b)
        self.logged = b + 1


class SkippedBatchCannotBeLogged(MicroBatchStatefulIdle):
    """A batch whose tasks did not run is never logged as done, with ids or without."""

    @action(per=BATCH)
    def log_commit(self, b: Member) -> None:
        when(self.ran)
        super().log_commit(b)


class NoBatchWithoutData(MicroBatchStatefulIdle):
    """Where no data is, no batch follows."""

    def goes_on(self) -> bool:
        return all_of(self.ran, not_(self.ran))


class LoggedIsDone(MicroBatchStatefulIdle):
    """A restart takes a batch whose offsets are logged for done."""

    @action
    def restart(self) -> None:
        super().restart()
        self.commits = self.offsets


class ComputedOnce(MicroBatchStatefulIdle):
    """A callback computes a batch once, whatever it does."""

    @action(per=BATCH)
    def compute_again(self, b: Member) -> None:
        when(self.commits > b)
        super().compute_again(b)


class TasksOutliveTheDriver(MicroBatchStatefulIdle):
    """A restart goes on with the tasks that were done before."""

    task = state(Task.IDLE, per=(PARTITION, ATTEMPT))
