"""Micro-batches whose logs are written in the background, while batches run."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.micro_batch import Driver, MicroBatch, Task
from onceproof.model.protocols.parts.sinks.sink import Sink
from onceproof.model.protocols.parts.sinks.topic import Topic


class MicroBatchLoggedLater(MicroBatch):
    """Batches run before they are logged. Spark, asynchronous progress tracking.

    The driver plans a batch, has its offsets logged in the background, and runs it
    meanwhile; when it is done, the driver plans the next one. One thread writes both
    logs, in the order in which batches were planned and done. A batch that the offset
    log does not name is planned anew after a crash, and may then be cut in another way.
    So its sink is a topic, which does not say what was in which batch; Spark allows no
    other lasting one. Left out: a limit to how far the logs are
    behind, an interval at which they are written, if not for each batch, and Spark's
    real-time mode, which logs a batch's offsets at its end.
    """

    sink = part(Topic)

    planned = state(0, high=Sink.BATCH, volatile=True)
    at = state(0, high=Sink.BATCH, volatile=True)

    @action
    def restart(self) -> None:
        """The driver starts where its logs end."""
        when(self.driver == Driver.DOWN)
        self.driver = Driver.PLANNING
        self.planned = self.offsets
        self.at = self.commits

    @action(per=MicroBatch.BATCH)
    def log_offsets(self, b: Member) -> None:
        """The thread logs which offsets a batch holds that was planned before."""
        when(
            self.driver != Driver.DOWN,
            self.planned > b,
            self.offsets == b,
            self.commits == b,
        )
        self.offsets = b + 1

    @action(per=MicroBatch.BATCH)
    def plan_batch(self, b: Member) -> None:
        """The driver plans the next batch, so that its offsets can be logged."""
        when(self.driver == Driver.PLANNING, self._is_at(b), self.planned == b)
        self.planned = b + 1

    @action(per=MicroBatch.BATCH)
    def start_batch(self, b: Member) -> None:
        """The driver runs the batch that it has planned, or one that was logged."""
        when(self.driver == Driver.PLANNING, self._is_at(b), self.planned > b)
        self.driver = Driver.RUNNING

    @action(per=MicroBatch.BATCH)
    def end_batch(self, b: Member) -> None:
        """The batch is done; that it is will be logged."""
        when(
            self.driver == Driver.COMMITTING,
            self._is_at(b),
            self.sink.finished(b),
        )
        self.at = b + 1
        self.driver = Driver.PLANNING
        self.task.fill(Task.IDLE)

    @action(per=MicroBatch.BATCH)
    def log_commit(self, b: Member) -> None:
        """The thread logs that a batch is done."""
        when(
            self.driver != Driver.DOWN,
            self.at > b,
            self.offsets == b + 1,
            self.commits == b,
        )
        self.commits = b + 1

    @lemma
    def runs_a_logged_batch(self) -> bool:
        """A batch runs once it is planned, and what is logged was planned."""
        running = any_of(
            self.driver == Driver.RUNNING, self.driver == Driver.COMMITTING
        )
        return all_of(
            implies(running, self.at < self.planned),
            implies(
                self.driver != Driver.DOWN,
                all_of(
                    self.planned <= self.at + 1,
                    self.at <= self.planned,
                    self.offsets <= self.planned,
                    self.commits <= self.at,
                ),
            ),
        )

    @lemma
    def tasks_end_with_the_driver(self) -> bool:
        """No task runs while the driver is down."""
        return implies(
            self.driver == Driver.DOWN,
            all_of(
                self.task[p, a] == Task.IDLE
                for p in self.PARTITION
                for a in self.ATTEMPT
            ),
        )

    @sometimes
    def done_before_it_is_logged(self) -> bool:
        """A batch can be done before the offset log names it."""
        return any_of(all_of(self.at > b, self.offsets <= b) for b in self.BATCH)

    def _is_at(self, b: Member) -> bool:
        """Return whether ``b`` is the batch that the driver is at."""
        return self.at == b

    def _has_returned(self, b: Member) -> bool:
        """Return whether the sink's code is through with a batch."""
        done = any_of(self.commits > b, self.at > b)
        return any_of(done, super()._has_returned(b))
