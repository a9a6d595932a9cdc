"""Micro-batches whose messages to the sink's store may be lost, or come late."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.micro_batch import Driver, MicroBatch, Task
from onceproof.model.protocols.parts.sinks.batch_ledger import LedgerLookedUpOnce
from onceproof.model.protocols.parts.sinks.sink import Sink


class MicroBatchUnreliable(MicroBatch):
    """The same where messages to the sink's store are lost. Gray, two generals, 1978.

    Notes on Data Base Operating Systems. A request is lost before the store has it, or
    the store does what it asks for and the reply is lost, or the store gets it only
    once another try has succeeded. The code cannot tell one from the other. It tries
    again, or it raises; then Spark does. Left out: a connection that breaks once the
    code has no try left; late requests of a commit whose part says nothing of them, and
    those that the store gets in the midst of another try.
    """

    breaks = ("at-most-once", "effectively-once")

    retries = param(1, "how often the sink's code tries again; if never, it raises")
    sink = part(Sink, default=LedgerLookedUpOnce)

    tried = state(0, high=retries, per=MicroBatch.BATCH, volatile=True)
    tried_in_task = state(
        0,
        high=retries,
        per=(MicroBatch.BATCH, MicroBatch.PARTITION, MicroBatch.ATTEMPT),
        volatile=True,
    )

    late = state(
        False, per=(MicroBatch.BATCH, MicroBatch.PARTITION, MicroBatch.ATTEMPT)
    )
    late_commit = state(False, per=MicroBatch.BATCH)

    @action(per=(MicroBatch.BATCH, MicroBatch.PARTITION, MicroBatch.ATTEMPT))
    def late_write(self, b: Member, p: Member, a: Member) -> None:
        """The store gets an attempt's late write, once the batch is done without it."""
        when(self.late[b, p, a], self.commits > b)
        self.late[b, p, a] = False
        self.sink.write(b, p, a)

    @action(per=MicroBatch.BATCH)
    def late_step(self, b: Member) -> None:
        """The store gets the late request of a commit, once the batch is done."""
        when(self.late_commit[b], self.commits > b)
        self.late_commit[b] = False
        self.sink.arrive_late(b)

    @fault(per=(MicroBatch.BATCH, MicroBatch.PARTITION, MicroBatch.ATTEMPT))
    def lose_request(self, b: Member, p: Member, a: Member) -> None:
        """An attempt's connection breaks before the store has its write."""
        when(self._writes(b, p, a))
        self._breaks_in_task(b, p, a)

    @fault(per=(MicroBatch.BATCH, MicroBatch.PARTITION, MicroBatch.ATTEMPT))
    def lose_reply(self, b: Member, p: Member, a: Member) -> None:
        """The store has done an attempt's write, and the reply is lost."""
        when(self._writes(b, p, a))
        self.sink.write(b, p, a)
        self._breaks_in_task(b, p, a)

    @fault(per=MicroBatch.BATCH)
    def lose_commit_request(self, b: Member) -> None:
        """A connection of the code on the driver breaks before its next step."""
        when(self._commits(b), not_(self.sink.finished(b)))
        self._breaks_on_driver(b)

    @fault(per=MicroBatch.BATCH)
    def lose_commit_reply(self, b: Member) -> None:
        """The reply to the last step of the code on the driver is lost."""
        steps = type(self.sink).finished != Sink.finished
        when(steps, self._commits(b), self.sink.finished(b))
        self._breaks_on_driver(b)

    @fault(per=(MicroBatch.BATCH, MicroBatch.PARTITION, MicroBatch.ATTEMPT))
    def late_request(self, b: Member, p: Member, a: Member) -> None:
        """An attempt's connection breaks, and the store gets its write later."""
        when(self._writes(b, p, a), not_(self.late[b, p, a]))
        self.late[b, p, a] = True
        self._breaks_in_task(b, p, a)

    @fault(per=MicroBatch.BATCH)
    def late_commit_request(self, b: Member) -> None:
        """A connection of the code on the driver breaks; its next step comes later."""
        known = type(self.sink).arrive_late != Sink.arrive_late
        when(known, self._commits(b), not_(self.sink.finished(b)))
        when(not_(self.late_commit[b]))
        self.late_commit[b] = True
        self.sink.delay(b)
        self._breaks_on_driver(b)

    def _commits(self, b: Member) -> bool:
        left = not self.retries or self.tried[b] < self.retries
        return all_of(left, self.driver == Driver.COMMITTING, self.commits == b)

    def _writes(self, b: Member, p: Member, a: Member) -> bool:
        writes = self.sink.writes_in_tasks
        goes_on: bool = a < self.ATTEMPT.last
        if self.retries:
            goes_on = self.tried_in_task[b, p, a] < self.retries
        running = self.task[p, a] == Task.RUNNING
        return all_of(writes, goes_on, self._runs(b), running)

    def _breaks_in_task(self, b: Member, p: Member, a: Member) -> None:
        if self.retries:
            self.tried_in_task[b, p, a] += 1
        else:
            self.sink.abort_task(b, p, a, wrote=False)
            self.task[p, a] = Task.FAILED

    def _breaks_on_driver(self, b: Member) -> None:
        if self.retries:
            self.tried[b] += 1
            self.sink.retry(b)
        else:
            self.sink.abort(b)
            self.lose_volatile()
