"""Micro-batches of a query with state: versions of the state, and a watermark."""

from __future__ import annotations

from onceproof.model.errors import ModelError
from onceproof.model.language import *
from onceproof.model.protocols.micro_batch import Driver, Task
from onceproof.model.protocols.parts.empty_batches import (
    EmptyBatchAfterAnother,
    EmptyBatchWhenDue,
)
from onceproof.model.protocols.parts.operators import OneOperator
from onceproof.model.protocols.parts.sinks.sink import Sink
from onceproof.model.protocols.parts.state_stores import (
    ClosedWindows,
    OneAction,
    Results,
    ResultsSkipped,
    StateVersions,
    StateVersionsWithIds,
)


class MicroBatchStateful(Protocol):
    """A query with state and a watermark. Spark Structured Streaming, SIGMOD 2018.

    Armbrust and others, Structured Streaming. A batch holds an event for each
    partition, in a window of its own unless ``output`` says otherwise. A task commits
    its state before it ends. The watermark after a batch is computed from what its
    tasks report, and is logged with its commit; in append mode the next batch shows the
    windows that it has passed. Where no data is, a batch without data shows them, which
    is logged as any other. Left out: late events, and what a second input brings.
    """

    role = "driver"

    BATCH = Sink.BATCH
    PARTITION = Sink.PARTITION
    ATTEMPT = Sink.ATTEMPT

    versions = part(StateVersions)
    results = part(Results)
    output = part(ClosedWindows)
    operators = part(OneOperator)
    actions = part(OneAction)
    empty_batches = part(EmptyBatchWhenDue)

    offsets = state(0, high=BATCH)
    commits = state(0, high=BATCH)
    logged = state(0, high=BATCH)
    begins = state(0, high=BATCH, per=BATCH)
    driver = state(Driver.DOWN, volatile=True)
    task = state(Task.IDLE, per=(PARTITION, ATTEMPT), volatile=True)
    ran = state(False, volatile=True)
    ends_logged = state(0, high=BATCH)
    ends = state(0, high=BATCH)

    def __init__(self, **arguments: object) -> None:
        """Take sizes and parts; refuse those that no query has beside each other."""
        super().__init__(**arguments)
        if lacking := self.operators.lacks(self.versions, self.output):
            message = (
                f"{self.operators.label()} does not go with {lacking}; take another "
                "part there, or one-operator"
            )
            raise ModelError(message)

    @action
    def restart(self) -> None:
        """The driver starts, and reads where its logs end."""
        when(self.driver == Driver.DOWN)
        self.driver = Driver.PLANNING

    @action(per=BATCH)
    def log_offsets(self, b: Member) -> None:
        """The driver logs what the next batch holds, and its watermark."""
        when(
            self.driver == Driver.PLANNING,
            self.offsets == b,
            self.commits == b,
            self.ends == self.ends_logged,
        )
        self.offsets = b + 1
        self.begins[b] = self.logged

    @action(per=BATCH)
    def start_batch(self, b: Member) -> None:
        """The driver runs a logged batch that is not committed."""
        when(
            self.driver == Driver.PLANNING,
            self.offsets == b + 1,
            self.commits == b,
        )
        self.driver = Driver.RUNNING
        self.actions.start()
        self.operators.start_first()

    @action(per=BATCH)
    def skip_batch(self, b: Member) -> None:
        """The sink has the batch, so no task of it runs."""
        when(self._runs(b), not_(self.results.takes(b)))
        self.driver = Driver.COMMITTING

    @action(per=(BATCH, PARTITION, ATTEMPT))
    def commit_state(self, b: Member, p: Member, a: Member) -> None:
        """A task has read its input, and commits its state."""
        when(self._starts(b, p, a), not_(self.operators.runs_second()))
        self.task[p, a] = Task.WRITTEN
        self.versions.commit(b, p)

    @action(per=(BATCH, PARTITION, ATTEMPT))
    def commit_second(self, b: Member, p: Member, a: Member) -> None:
        """A task of the second operator has read its input, and commits its state."""
        when(self._starts(b, p, a), self.operators.runs_second())
        self.task[p, a] = Task.WRITTEN
        self.operators.commit_second(
            self.versions,
            b,
            p,
            closes=lambda e: self._closes_in(e, b),
            ended=lambda v: self.ends > v,
        )

    @action(per=(PARTITION, ATTEMPT))
    def commit_task(self, p: Member, a: Member) -> None:
        """A task ends, and reports its rows and the latest time that it has seen."""
        when(self.driver == Driver.RUNNING, self.task[p, a] == Task.WRITTEN)
        self.task[p, a] = Task.COMMITTED

    @action(per=BATCH)
    def start_second(self, b: Member) -> None:
        """All tasks of the first operator have ended: those of the second one start."""
        when(self._runs(b), self._ended(), self.operators.is_due())
        self.operators.start_second()
        self.task.fill(Task.IDLE)

    @action(per=BATCH)
    def compute_again(self, b: Member) -> None:
        """Another action of the callback begins, and runs all tasks of the batch."""
        when(self._runs(b), self._computed(), self.actions.due())
        self.actions.run()
        self.operators.start_first()
        self.task.fill(Task.IDLE)

    @action(per=BATCH)
    def commit_results(self, b: Member) -> None:
        """The sink puts the results of a batch in place."""
        when(self._runs(b), self._computed(), not_(self.actions.due()))
        self.results.there[b] = True
        self.results.shown.where(
            lambda e, p: self.output.shows(
                b, e, self._closes_in(self.output.last(e), b)
            )
        ).set(lambda e, p: self.operators.row(self.versions, self.output, b, e, p))
        self.driver = Driver.COMMITTING
        self.ran = True

    @action(per=BATCH)
    def log_commit(self, b: Member) -> None:
        """The driver logs that the batch is done, and the watermark after it."""
        when(
            self.driver == Driver.COMMITTING,
            self.offsets == b + 1,
            self.commits == b,
            self.versions.can_be_logged(self.ran),
        )
        self.logged = if_else(self.ran, b + 1, self.logged)
        self.commits = b + 1
        self.driver = Driver.PLANNING
        self.task.fill(Task.IDLE)

    @action(per=BATCH)
    def log_without_data(self, b: Member) -> None:
        """No data is there, and the watermark ends state: a batch without data is due.

        It is the one after batch ``b``.
        """
        when(
            self.driver == Driver.PLANNING,
            self.offsets == b + 1,
            self.commits == b + 1,
            self.logged == b + 1,
            self.ends_logged <= b,
            self.output.ends_state,
            self.goes_on(),
        )
        self.ends_logged = b + 1

    @action(per=BATCH)
    def run_without_data(self, b: Member) -> None:
        """The batch without data shows the windows that are closed."""
        when(self._ends(b), self.results.takes_after(b))
        self.results.there_after[b] = True
        self.results.shown.where(
            lambda e, p: self.output.shows_at_end(
                e, self._open_after(self.output.last(e), b)
            )
        ).set(
            lambda e, p: self.operators.row_at_end(
                self.versions, b, e, p, lambda c: self._open_after(c, b)
            )
        )
        self.operators.end(self.versions, b, lambda e: self._open_after(e, b))
        self.driver = Driver.COMMITTING
        self.ran = True

    @action(per=BATCH)
    def skip_without_data(self, b: Member) -> None:
        """The sink has the batch without data, so no task of it runs."""
        when(self._ends(b), not_(self.results.takes_after(b)))
        self.driver = Driver.COMMITTING

    @action(per=BATCH)
    def commit_without_data(self, b: Member) -> None:
        """The driver logs that the batch without data is done."""
        when(
            self.driver == Driver.COMMITTING,
            self.ends_logged == b + 1,
            self.ends <= b,
            self.versions.can_be_logged(self.ran),
        )
        self.ends = b + 1
        self.driver = Driver.PLANNING

    def goes_on(self) -> bool:
        """Return whether the driver looks for windows to close where no data is."""
        return self.empty_batches.is_looked_for(self.ran)

    @fault
    def crash(self) -> None:
        """The driver dies, and its tasks with it."""
        when(self.driver != Driver.DOWN)
        self.lose_volatile()

    @fault(per=(PARTITION, ATTEMPT))
    def fail_task(self, p: Member, a: Member) -> None:
        """An attempt fails before or after it commits its state; another is due."""
        when(
            self.driver == Driver.RUNNING,
            any_of(self.task[p, a] == Task.IDLE, self.task[p, a] == Task.WRITTEN),
            all_of(
                implies(x < a, self.task[p, x] == Task.FAILED) for x in self.ATTEMPT
            ),
            a < self.ATTEMPT.last,
        )
        self.task[p, a] = Task.FAILED

    def _runs(self, b: Member) -> bool:
        return all_of(self.driver == Driver.RUNNING, self.commits == b)

    def _ends(self, b: Member) -> bool:
        return all_of(
            self.driver == Driver.PLANNING, self.ends_logged == b + 1, self.ends <= b
        )

    def _open_after(self, last: int, b: Member) -> bool:
        """Return whether a window that has its last event is open after ``b``."""
        return all_of(last >= self.begins[b], last <= b)

    def _starts(self, b: Member, p: Member, a: Member) -> bool:
        """Return whether an attempt can start: all earlier ones have failed."""
        return all_of(
            self._runs(b),
            self.results.takes(b),
            self.task[p, a] == Task.IDLE,
            all_of(
                implies(x < a, self.task[p, x] == Task.FAILED) for x in self.ATTEMPT
            ),
        )

    def _computed(self) -> bool:
        return all_of(self._ended(), not_(self.operators.is_due()))

    def _ended(self) -> bool:
        return all_of(
            any_of(self.task[p, a] == Task.COMMITTED for a in self.ATTEMPT)
            for p in self.PARTITION
        )

    def _closes_in(self, last: int, b: Member) -> bool:
        """Return whether batch ``b`` closes a window with its last event in ``last``.

        What a batch without data has closed before it, it does not.
        """
        opened = total(
            if_else(b == c + 1, if_else(self.ends > c, c + 1, self.begins[c]), 0)
            for c in self.BATCH
        )
        return all_of(last >= opened, last < self.begins[b])

    @observe(per=(BATCH, PARTITION))
    def visible(self, b: Member, e: Member) -> int:
        """How often the event counts in what readers see."""
        return self.results.shown[b, e]

    @observe(per=(BATCH, PARTITION))
    def expected(self, b: Member, e: Member) -> int:
        """A batch run counts each event once."""
        return 1

    @observe(per=(BATCH, PARTITION))
    def unit(self, b: Member, e: Member) -> int:
        """Events of one batch belong together."""
        return b

    @sometimes
    def all_shown(self) -> bool:
        """Every event can count in what readers see."""
        return all_of(
            self.results.shown[b, p] > 0 for b in self.BATCH for p in self.PARTITION
        )

    @sometimes
    def died_with_state(self) -> bool:
        """The driver can die between a task's commit of state and the commit log."""
        return all_of(
            self.driver == Driver.DOWN,
            any_of(
                all_of(self.commits == b, self.versions.held[b, b, p] > 0)
                for b in self.BATCH
                for p in self.PARTITION
            ),
        )


_LOSES = ("at-least-once", "effectively-once", "recoverable", "batch-equivalence")


class MicroBatchStatefulSkippedIds(MicroBatchStateful):
    """A sink skips a batch it has, and commits name state. Spark, checkpoint format 2.

    A batch that is skipped reports no ids, so that its commit cannot be logged: no
    restart brings the query back.
    """

    breaks = _LOSES

    versions = part(StateVersions, default=StateVersionsWithIds)
    results = part(Results, default=ResultsSkipped)


class MicroBatchStatefulIdle(MicroBatchStateful):
    """A driver goes on only after a batch of its own. Spark, MicroBatchExecution.

    It asks the last batch that it ran whether another one would change anything. A
    driver that has just started has run none.
    """

    breaks = _LOSES

    empty_batches = part(EmptyBatchWhenDue, default=EmptyBatchAfterAnother)
