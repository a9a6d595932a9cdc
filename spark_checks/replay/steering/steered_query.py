"""The runs of one query over one checkpoint, and their observations."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.checkpoint_edits import empty, entries, own
from onceproof.spark_checks.inject.exchange_points import exchanges_of
from onceproof.spark_checks.inject.failures.failure_reason import is_lost, reason
from onceproof.spark_checks.inject.forked_driver import HUNG, LOG
from onceproof.spark_checks.inject.tracing import line_trace
from onceproof.spark_checks.plan.rules import (
    CUTS,
    EXTRA,
    LIVES_ON,
    REFUSED,
    RELEASED,
    UNMET,
)
from onceproof.spark_checks.plan.run_plan import looked_mark
from onceproof.spark_checks.replay import events
from onceproof.spark_checks.replay.deviation import AS_PLANNED, Deviation
from onceproof.spark_checks.replay.run_evidence import RunRecord, Sent
from onceproof.spark_checks.replay.steering.query_run import OF_PATIENCE, QueryRun
from onceproof.spark_checks.replay.steering.query_start import StartInSession
from onceproof.spark_checks.replay.steering.resumed_code import resumed_in
from onceproof.spark_checks.session.private_names import COMMIT_DENIED
from onceproof.spark_checks.session.processes.host_processes import HostError
from onceproof.spark_checks.session.processes.past_connections import PastConnections
from onceproof.spark_checks.sinks.code_points import DRIVER, TASK, CodePoint

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.spark_checks.inject.adapters import Adapter
    from onceproof.spark_checks.inject.connections import SeenRequest
    from onceproof.spark_checks.inject.hosts.built_sink import BuiltSink
    from onceproof.spark_checks.plan.run_plan import ExpectedMark, RunPlan
    from onceproof.spark_checks.replay.steering.query_start import (
        QueryResult,
        QueryStart,
    )
    from onceproof.spark_checks.replay.steering.replay_context import ReplayContext
    from onceproof.spark_checks.sinks.interface import ModelledSink

    _News: TypeAlias = events.StepTaken | events.FaultInjected

_RESTARTS = 3
NEVER = "never injected"
NO_LONGER = "after an earlier fault, the code does not get there"
"""Why a fault left no mark: nothing came to its point, at all or in a restarted run."""


class SteeredQuery:
    """The runs of one query over one checkpoint."""

    def __init__(
        self,
        context: ReplayContext,
        folder: Path,
        built: BuiltSink,
        sink: ModelledSink,
        adapter: Adapter,
    ) -> None:
        """Run what is ``built`` in a ``folder``, which is all it may write to."""
        self._context = context
        self._own = bool(sink.code)
        self._unmodelled = sink.is_unmodelled
        self._callback = sink.callback
        self._folder = folder
        self._marks = folder / "marks"
        self._built = built
        self._readers = built.readers
        self.kind = adapter
        self._checkpoint = folder / "checkpoint"
        self.records: list[RunRecord] = []
        self.unreadable: dict[str, str] = {}
        self.looks: list[Any] = []
        self.promised: list[set[int]] = []
        self.unplanned: list[str] = []
        self.rested = False
        self._reported: set[int] = set()
        start: QueryStart
        source, patience = context.source, context.patience
        if context.drivers is not None:
            start = context.drivers.start_of(source, folder, built, sink, patience)
        else:
            session, spark = context.session, context.spark
            where = (session, spark, source, folder)
            start = StartInSession(*where, built, adapter, patience)
        self._query = QueryRun(context, folder, built, sink, start)

    def go(self, run: RunPlan) -> Deviation:
        """Make one run and look at what it left; return its deviation from the plan."""
        self._context.source.offer(self._folder / "input", run.offered)
        before = entries(self._checkpoint, "offsets")
        ended = self._query.once(run)
        if ended.error and not run.fails:
            self._release(run)
        problem = self._deviation(run, ended, before)
        if problem:
            return problem
        if not run.fails:
            problem = self._heal(run, ended)
            if problem:
                return problem
        if run.undo is not None:
            edited = self.kind.edits()
            if edited is not None:
                own(edited, self._context.scratch)
            self.kind.undo(own(self._checkpoint, self._context.scratch), *run.undo)
        if run.loses_checkpoint:
            empty(own(self._checkpoint, self._context.scratch))
            self._reported.clear()
        problem = self._look(run)
        if problem:
            return problem
        promised = entries(self._checkpoint, "commits")
        if run.joined and promised:
            if promised != {0}:
                message = f"Spark cut the source into {len(promised)} batches, not one"
                return Deviation(message)
            promised = set(range(self._context.source.batches))
        self.promised.append(promised)
        caught = self._caught(run, ended)
        self.records.append(self._record(run, caught=caught, well=not ended.error))
        (self._marks / looked_mark(run.number)).touch()
        return AS_PLANNED

    @property
    def released_early(self) -> bool:
        """Whether a task that was given up went on before its time."""
        return self._query.released_early

    @property
    def requests(self) -> tuple[list[SeenRequest], dict[str, int]]:
        """What the sink has said to its store, and what others have, by reason."""
        connections = self._built.connections
        return ([], {}) if connections is None else connections.seen()

    @property
    def past(self) -> PastConnections:
        """The connections of the run that do not lead through the proxy."""
        connections = self._built.connections
        return PastConnections() if connections is None else connections.past

    def look_again(self, run: RunPlan) -> Any:
        """Return what readers see now; None where they fail."""
        if self._look(run):
            return None
        found = self.looks.pop()
        return None if self.unreadable.pop(run.moment, "") else found

    def close(self) -> None:
        """End the driver's host, and the processes that hold the sink."""
        try:
            self._query.leave()
        finally:
            self._built.close()

    def _release(self, run: RunPlan) -> None:
        """Release tasks that wait for others: the query has failed meanwhile.

        One of them may hold what the others need, and have failed the query by that.
        """
        if any(rule.do in LIVES_ON for rule in run.rules):
            (self._marks / run.mark(RELEASED)).touch()

    def _look(self, run: RunPlan) -> Deviation:
        """Record what readers see; a user's reader may fail on what a fault left."""
        context = self._context
        if context.observer is None:
            message = "this run has no observer"
            raise RuntimeError(message)
        try:
            found = context.observer.look(context.spark, self._readers)
        except HostError as error:
            return Deviation(str(error), help=True)
        except UsageError:
            raise
        except Exception as error:
            if is_lost(error):
                return Deviation(reason(error), help=True)
            if not self._own:
                raise
            self.unreadable[run.moment] = reason(error)
            found = None
        self.looks.append(found)
        return AS_PLANNED

    def _record(self, run: RunPlan, *, caught: bool, well: bool) -> RunRecord:
        committed = frozenset(self.promised[-1])
        ran = {}
        worked = {}
        in_tasks: set[str] = set()
        in_threads: set[str] = set()
        for batch in range(run.offered):
            path = self._marks / run.mark(line_trace.file_of(DRIVER, batch))
            if path.exists():
                points = list(line_trace.read(path))
                ran[batch] = tuple(note.text for note in points if note.main)
                in_threads.update(note.text for note in points if not note.main)
            name = run.mark(line_trace.file_of(TASK, batch))
            for task in sorted(self._marks.glob(f"{name}-*")):
                partition = int(task.name.rpartition("-")[2])
                worked[batch, partition] = line_trace.of_first(task)
                in_tasks.update(n.text for n in line_trace.read(task) if n.main)
        failed = self.unreadable.get(run.moment, "")
        how = tuple(run.how)
        restarted = well and run.number > 0
        fields = (how, run.stop, run.moment, ran, committed, run.state, failed)
        return RunRecord(
            *fields,
            caught=caught,
            worked=worked,
            in_tasks=frozenset(in_tasks),
            in_threads=frozenset(in_threads),
            went_on=self._went_on(run) if caught else {},
            sent=self._sent() if restarted else (),
            uncut=self.requests[1] if restarted else {},
            resumed=resumed_in(run, self._marks, self.requests[0]) if well else (),
        )

    def _sent(self) -> tuple[Sent, ...]:
        return tuple(
            Sent(batch, -1 if partition is None else partition, every)
            for (batch, partition), every in exchanges_of(self.requests[0]).items()
        )

    def _went_on(self, run: RunPlan) -> dict[int, tuple[CodePoint, ...]]:
        """List the points after the last exchange that was cut, in its batch.

        An exchange that is known by its kind alone may have been at any point.
        """
        cut = next((rule for rule in run.rules[::-1] if rule.do in CUTS), None)
        if cut is None:
            return {}
        path = self._marks / run.mark(line_trace.file_of(DRIVER, cut.batch))
        notes = [note for note in line_trace.read(path) if note.main]
        points = [CodePoint(note.text, note.time) for note in notes]
        at = CodePoint(cut.line, cut.nth or 1)
        after = points.index(at) + 1 if at in points else 0
        return {cut.batch: tuple(points[after:])}

    def news(self, run: RunPlan, *, well: bool) -> list[tuple[type[_News], str]]:
        """List the model's steps and faults that a run newly shows, ordered by time."""
        shown = [
            (
                self._marks / d.mark,
                events.FaultInjected if d.fault else events.StepTaken,
                d.event,
            )
            for d in run.expected
        ]
        for batch in sorted(entries(self._checkpoint, "commits") - self._reported):
            entry = self._checkpoint / "commits" / str(batch)
            shown.append((entry, events.StepTaken, f"log_commit({batch})"))
            self._reported.add(batch)
        left = [
            (path.stat().st_mtime_ns, kind, what)
            for path, kind, what in shown
            if path.exists()
        ]
        reported = [(kind, what) for _, kind, what in sorted(left, key=lambda t: t[0])]
        return (
            [*reported, (events.FaultInjected, run.stop)]
            if well and run.stop
            else reported
        )

    def _heal(self, run: RunPlan, ended: QueryResult) -> Deviation:
        """Start the query again where it failed though no fault was injected.

        The model has no such restart: each is noted, and makes the result drift. Where
        Spark's scheduler was late, the run says nothing.
        """
        if COMMIT_DENIED in ended.error:
            return Deviation(ended.error, help=True)
        again = replace(run, rules=(), trap=None)
        restarts = 0
        while ended.error and restarts < _RESTARTS:
            self.unplanned.append(ended.error)
            ended = self._query.once(again)
            restarts += 1
            if ended.late or ended.failed:
                return Deviation(ended.error, help=True)
        self.rested = not ended.error
        return AS_PLANNED

    def _deviation(
        self, run: RunPlan, ended: QueryResult, before: set[int]
    ) -> Deviation:
        """Return why a run was not the one that was planned, if it was not.

        ``before`` holds the batches that had been begun before the run.
        """
        if (self._marks / HUNG).exists():
            where = (self._marks / LOG).read_text()
            late = f"the sink's code on the driver did not end within {OF_PATIENCE:.0%}"
            reason = f"{late} of {self._context.patience:.0f} s:\n{where}"
            return Deviation(reason, help=True)
        idle = [
            batch
            for batch, mark in run.begun.items()
            if batch in before and not (self._marks / mark).exists()
        ]
        if idle and not ended.error:
            # The model runs tasks that change nothing; the sink runs none.
            message = f"no task of batch {idle[0]} runs again, so no fault can hit it"
            return Deviation(message, known=True, nothing_to_hit=True)
        if ended.failed:
            return Deviation(ended.error, help=True)
        refused = sorted(self._marks.glob(f"{REFUSED}-*"))
        if refused:
            raise UsageError(refused[0].read_text())
        extra = sorted(self._marks.glob(f"{EXTRA}-{run.number}-*"))
        if extra:
            batch, partition, attempt = extra[0].name.split("-")[2:]
            message = (
                f"Spark began attempt {attempt} of task {partition}, batch {batch}, "
                "which the interleaving lacks"
            )
            return Deviation(message, help=True)
        missing = [d for d in run.expected if not self._left(d)]
        unmet = sorted(self._marks.glob(f"{UNMET}-*"))
        if unmet:
            return Deviation("; ".join(f.read_text() for f in unmet))
        if ended.late:
            return Deviation(ended.error, help=True)
        besides = f"; the query failed: {ended.error}" if ended.error else ""
        if run.end_mark is not None and not self._left(run.end_mark):
            # After a first fault, a user's code may run other lines.
            fewer = self._unmodelled and (not ended.error or run.number > 0)
            why = NO_LONGER if fewer and run.number > 0 else NEVER
            reason = f"{why}: {run.end_mark.what}{besides}"
            return Deviation(reason, known=fewer)
        if missing:
            never = "; ".join(d.what for d in missing)
            reason = f"{NEVER}: {never}{'' if run.fails else besides}"
            # A callback may reach the line where it dies before it starts tasks.
            begun = any((self._marks / mark).exists() for mark in run.begun.values())
            early = self._callback and run.end_mark is not None and not begun
            known = self._unmodelled and (early or not ended.error)
            return Deviation(reason, known=known)
        if run.fails and not ended.error and not self._caught(run, ended):
            return Deviation(f"the query went on after {'; '.join(run.how)}")
        return AS_PLANNED

    def _caught(self, run: RunPlan, ended: QueryResult) -> bool:
        """Return whether an error did not reach Spark, and a user's code went on."""
        return self._own and run.catchable and not ended.error

    def _left(self, due: ExpectedMark) -> bool:
        """Return whether a mark was left; wait for one that is left late."""
        path = self._marks / due.mark
        deadline = time.monotonic() + (self._context.patience if due.late else 0)
        while not path.exists():
            if time.monotonic() > deadline or any(self._marks.glob(f"{UNMET}-*")):
                return False
            time.sleep(0.002)
        return True
