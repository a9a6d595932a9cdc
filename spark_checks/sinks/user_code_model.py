"""Micro-batches into a sink whose code is known only by its injection points."""

from __future__ import annotations

from onceproof.model.language import (
    Member,
    Sort,
    action,
    fault,
    if_else,
    not_,
    param,
    part,
    state,
    when,
)
from onceproof.model.protocols.micro_batch import Driver, MicroBatch, Task
from onceproof.model.protocols.parts.sinks.sink import Sink

_MOST = 2**12


class UserCode(Sink):
    """Code of a user's own: what it does on the driver and in tasks is not modelled.

    In the model a batch is visible once the code on the driver has returned. That gives
    the order of steps only: a real run is judged, and not compared with this.
    """

    on_driver = param(0, "whether it runs code of its own on the driver")
    in_tasks = param(0, "whether it runs code of its own in tasks")
    committer = param(0, "whether a commit that fails is followed by an abort")

    ran = state(False, per=Sink.BATCH)
    worked = state(0, high=Sink.ATTEMPT, per=(Sink.BATCH, Sink.PARTITION))
    called = state(False, per=Sink.BATCH, volatile=True)

    @property
    def aborts(self) -> bool:
        """Whether a commit that fails is followed by an abort."""
        return bool(self.committer)

    def write(self, b: Member, p: Member, a: Member) -> None:
        """The code in a task may leave something that endures."""
        if self.in_tasks:
            self.worked[b, p] = a + 1

    def start_commit(self, b: Member) -> None:
        """The code on the driver is called, if there is any; else Spark commits."""
        if self.on_driver:
            self.called[b] = True
        elif not self.in_tasks:
            self.ran[b] = True

    @action(per=Sink.BATCH)
    def run(self, b: Member) -> None:
        """The code on the driver has run its last line."""
        when(self.called[b])
        self.called[b] = False
        self.ran[b] = True

    def finished(self, b: Member) -> bool:
        """The code has returned."""
        return not_(self.called[b])

    def visible(self, b: Member, e: Member) -> int:
        """A batch is visible once its code on the driver, or in tasks, has run."""
        if self.in_tasks and not self.on_driver:
            return if_else(self.worked[b, e] > 0, 1, 0)
        return if_else(self.ran[b], 1, 0)


class InstrumentedMicroBatch(MicroBatch):
    """Micro-batches with faults at any point of the sink's code.

    Where a fault takes a point as its last member, it hits before the point after
    that one; what hits before the first point is a fault of micro-batches anyway.
    """

    LINE = Sort("point of the code on the driver", size=1, ordered=True, most=_MOST)
    WORK = Sort("point of the code in a task", size=1, ordered=True, most=_MOST)
    UNDO = Sort("point of the code that aborts", size=1, ordered=True, most=_MOST)

    sink = part(Sink, default=UserCode)

    late = state(False, per=(MicroBatch.BATCH, MicroBatch.PARTITION))

    @action(per=(MicroBatch.BATCH, MicroBatch.PARTITION, MicroBatch.ATTEMPT))
    def zombie_write(self, b: Member, p: Member, a: Member) -> None:
        """An attempt that was given up does its work after all, perhaps too late."""
        when(self.zombie[b, p, a])
        self.zombie[b, p, a] = False
        self.late[b, p] = self.commits > b
        self.sink.write(b, p, a)

    @fault(per=(MicroBatch.BATCH, LINE))
    def crash_in_commit(self, b: Member, n: Member) -> None:
        """The driver dies in the midst of the sink's code."""
        when(n > 0, self._commits(b), not_(self.sink.finished(b)))
        self.lose_volatile()

    @fault(per=(MicroBatch.BATCH, MicroBatch.PARTITION, MicroBatch.ATTEMPT, WORK))
    def fail_in_task(self, b: Member, p: Member, a: Member, n: Member) -> None:
        """An attempt fails in the midst of the sink's code, and another is due."""
        when(n > 0, self._works(b, p, a), a < self.ATTEMPT.last)
        self.sink.abort_task(b, p, a, False)
        self.task[p, a] = Task.FAILED

    @fault(per=(MicroBatch.BATCH, MicroBatch.PARTITION, MicroBatch.ATTEMPT, WORK))
    def raise_in_task(self, b: Member, p: Member, a: Member, n: Member) -> None:
        """The sink's code in an attempt raises, and may clean up; another is due."""
        when(n > 0, self._works(b, p, a), a < self.ATTEMPT.last)
        self.sink.abort_task(b, p, a, False)
        self.task[p, a] = Task.FAILED

    @fault(per=(MicroBatch.BATCH, MicroBatch.PARTITION, MicroBatch.ATTEMPT))
    def fail_above(self, b: Member, p: Member, a: Member) -> None:
        """What feeds the sink's code in an attempt fails; the code may not notice."""
        fed = isinstance(self.sink, UserCode) and self.sink.in_tasks == 1
        when(fed, self._works(b, p, a), a < self.ATTEMPT.last)
        self.sink.abort_task(b, p, a, False)
        self.task[p, a] = Task.FAILED

    @fault(per=(MicroBatch.BATCH, MicroBatch.PARTITION, MicroBatch.ATTEMPT, WORK))
    def crash_in_task(self, b: Member, p: Member, a: Member, n: Member) -> None:
        """The driver dies, and its tasks with it, one in the midst of the code."""
        when(n > 0, self._works(b, p, a))
        self.lose_volatile()

    @fault(per=(MicroBatch.BATCH, MicroBatch.PARTITION, MicroBatch.ATTEMPT, WORK))
    def lose_in_task(self, b: Member, p: Member, a: Member, n: Member) -> None:
        """An attempt is given up in the midst of the code, and goes on later."""
        when(n > 0, self._works(b, p, a), a < self.ATTEMPT.last)
        self.task[p, a] = Task.FAILED
        self.zombie[b, p, a] = True

    @fault(per=(MicroBatch.BATCH, LINE))
    def fail_in_commit(self, b: Member, n: Member) -> None:
        """The sink's code on the driver raises in the midst; abort follows a commit."""
        when(n > 0, self._commits(b), not_(self.sink.finished(b)))
        self.sink.abort(b)
        self.lose_volatile()

    @fault(per=(MicroBatch.BATCH, UNDO))
    def crash_in_abort(self, b: Member, n: Member) -> None:
        """The commit raises after it took effect, and the driver dies in the abort."""
        when(n > 0, self.sink.aborts, self._commits(b), self.sink.finished(b))
        self.lose_volatile()

    def _commits(self, b: Member) -> bool:
        return (self.driver == Driver.COMMITTING) & (self.commits == b)

    def _works(self, b: Member, p: Member, a: Member) -> bool:
        return self._runs(b) & (self.task[p, a] == Task.RUNNING)
