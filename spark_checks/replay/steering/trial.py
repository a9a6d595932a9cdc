"""The runs of one query over one checkpoint, and what is seen of them."""

from __future__ import annotations

import math
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.adapters import NOWHERE, STARTS, Kind, Start
from onceproof.spark_checks.inject.checkpoint_edits import Trap, entries, own
from onceproof.spark_checks.inject.failure_reason import is_lost, reason
from onceproof.spark_checks.inject.forked_driver import HUNG, LOG, StandIn
from onceproof.spark_checks.inject.tracing import line_trace
from onceproof.spark_checks.inject.tracing.early_release import Stall
from onceproof.spark_checks.inject.tracing.injection_points import DRIVER, TASK
from onceproof.spark_checks.plan.rules import (
    LINES,
    REFUSED,
    RELEASED,
    RUN_PROPERTY,
    UNMET,
    WORK,
    Plan,
    Rule,
)
from onceproof.spark_checks.plan.run_plan import FAILED, NO_SUCH_POINT, NOT_MET, looked
from onceproof.spark_checks.replay import events
from onceproof.spark_checks.replay.cleanup import Leftovers
from onceproof.spark_checks.replay.outcome import RunTold
from onceproof.spark_checks.session.host_processes import HarnessError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from onceproof.properties.ledger import History
    from onceproof.spark_checks.inject.adapters import Started
    from onceproof.spark_checks.inject.hosts.built_sink import Built
    from onceproof.spark_checks.inputs.event_files import Source
    from onceproof.spark_checks.plan.run_plan import Due, Run
    from onceproof.spark_checks.replay.observations import Observer, Telling
    from onceproof.spark_checks.session.warm_session import WarmSession
    from onceproof.spark_checks.sinks.interface import Reference, UnderTest

    _News: TypeAlias = events.Step | events.Fault

PATIENCE = 60.0
_OF_IT = 0.75
_RESTARTS = 3
_OPEN_COST = 4 * 2**20


@dataclass(frozen=True)
class Bench:
    """What all runs of a replay share.

    A run that has not ended after ``patience`` seconds is given up. A task that was
    given up, and is parked, is released where nothing moves for ``stall`` seconds.
    """

    session: WarmSession
    spark: SparkSession
    source: Source
    observer: Observer | None
    scratch: Path
    under_test: UnderTest | None = None
    patience: float = PATIENCE
    stall: float = math.inf
    leftovers: Leftovers = field(default_factory=Leftovers)

    def histories(self, tellings: Sequence[Telling]) -> list[History]:
        """Count how events fared in several runs; nothing where nobody looked."""
        if self.observer is None or not tellings:
            return []
        return self.observer.histories(tellings)


@dataclass(frozen=True)
class Ended:
    """How one start of the query ended; ``error`` is empty where it ended well.

    It may have come too ``late``, or not at all because we ``failed``.
    """

    error: str = ""
    late: bool = False
    failed: bool = False


@dataclass(frozen=True)
class Amiss:
    """Why a run was not the one that was planned; ``known`` if none can ever be.

    With ``none_there`` that is for want of anything to inject into.
    Another try may ``help``: what failed was ours, or took too long.
    """

    reason: str = ""
    known: bool = False
    help: bool = False
    none_there: bool = False

    @property
    def cause(self) -> str:
        """Say by which of the causes an interleaving was not replayed."""
        if not self.reason:
            return ""
        if self.none_there:
            return NO_SUCH_POINT
        return NOT_MET if self.known else FAILED

    def __bool__(self) -> bool:
        """Say whether there is anything amiss."""
        return bool(self.reason)


WELL = Amiss()


class Trial:
    """The runs of one query over one checkpoint."""

    def __init__(
        self,
        bench: Bench,
        folder: Path,
        built: Built,
        sink: Reference,
        kind: Kind,
    ) -> None:
        """Run what is ``built`` in a ``folder``, which is all it may write to."""
        self._bench = bench
        self._own = bool(sink.code)
        self._callback = sink.seen is not None and sink.seen.callback
        self._code = sink.code
        self._named = sink.named
        self._allowed = (str(bench.scratch), *sink.allowed) if sink.code else None
        self._folder = folder
        self._marks = folder / "marks"
        self._built = built
        self._read = built.read
        self.kind = kind
        self._checkpoint = folder / "checkpoint"
        self._driver: StandIn | None = None
        self.told: list[RunTold] = []
        self.unreadable: dict[str, str] = {}
        self.looks: list[Any] = []
        self.promised: list[set[int]] = []
        self.unplanned: list[str] = []
        self.rested = False
        self._told: set[int] = set()
        self._stall = Stall(self._marks, self._checkpoint, bench.stall)

    def go(self, run: Run) -> Amiss:
        """Make one run and look at what it left; say what went otherwise than told."""
        self._bench.source.offer(self._folder / "input", run.offered)
        before = entries(self._checkpoint, "offsets")
        ended = self._once(run)
        if ended.error and not run.fails:
            self._release(run)
        problem = self._amiss(run, ended, before)
        if problem:
            return problem
        if not run.fails:
            problem = self._heal(run, ended)
            if problem:
                return problem
        if run.undo is not None:
            edited = self.kind.edits()
            if edited is not None:
                own(edited, self._bench.scratch)
            self.kind.undo(own(self._checkpoint, self._bench.scratch), *run.undo)
        problem = self._look(run)
        if problem:
            return problem
        self.promised.append(entries(self._checkpoint, "commits"))
        self.told.append(self._tell(run, caught=self._caught(run, ended)))
        (self._marks / looked(run.number)).touch()
        return WELL

    @property
    def released_early(self) -> bool:
        """Whether a task that was given up went on before its time."""
        return self._stall.released

    def look_again(self, run: Run) -> Any:
        """Give what readers see now; None where they fail."""
        if self._look(run):
            return None
        found = self.looks.pop()
        return None if self.unreadable.pop(run.moment, "") else found

    def close(self) -> None:
        """End what stands for a driver, and the processes that hold the sink."""
        self._leave()
        self._built.close()

    def _leave(self) -> tuple[bool, str]:
        """End what stands for a driver; say whether a rule ended it, or why it failed.

        That may have been a thread of it, after the last callback.
        """
        driver, self._driver = self._driver, None
        if driver is None:
            return False, ""
        died = driver.close()
        return died, driver.lost

    def _release(self, run: Run) -> None:
        """Let tasks go on that wait for others: the query has failed meanwhile.

        One may hold what the others wanted, and have failed the query by that.
        """
        if any(rule.do == "zombie" for rule in run.rules):
            (self._marks / run.mark(RELEASED)).touch()

    def _look(self, run: Run) -> Amiss:
        """See what readers see; a user's reader may fail on what a fault has left."""
        bench = self._bench
        if bench.observer is None:
            message = "nobody is there to look"
            raise RuntimeError(message)
        try:
            found = bench.observer.look(bench.spark, self._read)
        except HarnessError as error:
            return Amiss(str(error), help=True)
        except UsageError:
            raise
        except Exception as error:
            if is_lost(error):
                return Amiss(reason(error), help=True)
            if not self._own:
                raise
            self.unreadable[run.moment] = reason(error)
            found = None
        self.looks.append(found)
        return WELL

    def _tell(self, run: Run, *, caught: bool) -> RunTold:
        committed = frozenset(self.promised[-1])
        ran = {}
        worked = {}
        in_tasks: set[str] = set()
        for batch in range(run.offered):
            path = self._marks / run.mark(line_trace.file_of(DRIVER, batch))
            if path.exists():
                ran[batch] = tuple(
                    text for main, text, _ in line_trace.read(path) if main
                )
            name = run.mark(line_trace.file_of(TASK, batch))
            for task in sorted(self._marks.glob(f"{name}-*")):
                partition = int(task.name.rpartition("-")[2])
                worked[batch, partition] = line_trace.of_first(task)
                in_tasks.update(text for main, text, _ in line_trace.read(task) if main)
        failed = self.unreadable.get(run.moment, "")
        how = tuple(run.how)
        told = (how, run.stop, run.moment, ran, committed, run.state, failed)
        return RunTold(
            *told, caught=caught, worked=worked, in_tasks=frozenset(in_tasks)
        )

    def news(self, run: Run, *, well: bool) -> list[tuple[type[_News], str]]:
        """List, in order of time, what of the model a run is now known to have done."""
        shown = [
            (self._marks / d.mark, events.Fault if d.fault else events.Step, d.event)
            for d in run.due
        ]
        for batch in sorted(entries(self._checkpoint, "commits") - self._told):
            entry = self._checkpoint / "commits" / str(batch)
            shown.append((entry, events.Step, f"log_commit({batch})"))
            self._told.add(batch)
        there = [
            (path.stat().st_mtime_ns, kind, what)
            for path, kind, what in shown
            if path.exists()
        ]
        told = [(kind, what) for _, kind, what in sorted(there, key=lambda t: t[0])]
        return [*told, (events.Fault, run.stop)] if well and run.stop else told

    def _heal(self, run: Run, ended: Ended) -> Amiss:
        """Start the query again where it failed though nothing was to strike it.

        The model has no such restart: each is noted, and makes the result drift.
        """
        again = replace(run, rules=[], trap=None)
        restarts = 0
        while ended.error and restarts < _RESTARTS:
            self.unplanned.append(ended.error)
            ended = self._once(again)
            restarts += 1
            if ended.late or ended.failed:
                return Amiss(ended.error, help=True)
        self.rested = not ended.error
        return WELL

    def _amiss(self, run: Run, ended: Ended, before: set[int]) -> Amiss:
        """Say why a run was not the one that was planned, if it was not.

        ``before`` holds the batches that had been begun before the run.
        """
        if (self._marks / HUNG).exists():
            where = (self._marks / LOG).read_text()
            said = f"the sink's code on the driver did not end within {_OF_IT:.0%}"
            told = f"{said} of {self._bench.patience:.0f} s:\n{where}"
            return Amiss(told, help=True)
        idle = [
            batch
            for batch, mark in run.begun.items()
            if batch in before and not (self._marks / mark).exists()
        ]
        if idle and not ended.error:
            # The model lets tasks run that change nothing; the sink runs none.
            message = f"no task of batch {idle[0]} runs again, so none can be struck"
            return Amiss(message, known=True, none_there=True)
        if ended.failed:
            return Amiss(ended.error, help=True)
        refused = sorted(self._marks.glob(f"{REFUSED}-*"))
        if refused:
            raise UsageError(refused[0].read_text())
        missing = [d for d in run.due if not self._left(d)]
        unmet = sorted(self._marks.glob(f"{UNMET}-*"))
        if unmet:
            return Amiss("; ".join(f.read_text() for f in unmet))
        if ended.late:
            return Amiss(ended.error, help=True)
        besides = f"; the query failed: {ended.error}" if ended.error else ""
        if run.strike is not None and not self._left(run.strike):
            # What a user's code runs after one fault is its own affair.
            fewer = self._own and (not ended.error or run.number > 0)
            return Amiss(f"never struck: {run.strike.what}{besides}", known=fewer)
        if missing:
            never = "; ".join(d.what for d in missing)
            told = f"never struck: {never}{'' if run.fails else besides}"
            # A callback may come to the line where it dies before it starts tasks.
            begun = any((self._marks / mark).exists() for mark in run.begun.values())
            early = self._callback and run.strike is not None and not begun
            return Amiss(told, known=self._own and (early or not ended.error))
        if run.fails and not ended.error and not self._caught(run, ended):
            return Amiss(f"the query went on after {'; '.join(run.how)}")
        return WELL

    def _caught(self, run: Run, ended: Ended) -> bool:
        """Say whether an error did not reach Spark, and a user's code went on."""
        return self._own and run.catchable and not ended.error

    def _left(self, due: Due) -> bool:
        """Say whether a mark was left; wait for one that is left late."""
        path = self._marks / due.mark
        deadline = time.monotonic() + (self._bench.patience if due.late else 0)
        while not path.exists():
            if time.monotonic() > deadline or any(self._marks.glob(f"{UNMET}-*")):
                return False
            time.sleep(0.002)
        return True

    def _once(self, run: Run) -> Ended:
        """Start the query and wait for its end."""
        session = self._bench.session
        rules = [self._placed(r) for r in run.rules]
        if self._own:
            for batch in range(run.offered):
                mark = run.mark(line_trace.file_of(DRIVER, batch))
                rules.append(Rule(LINES, "call", batch, "note", mark=mark))
                mark = run.mark(line_trace.file_of(TASK, batch))
                rules.append(Rule(WORK, "call", batch, "first", mark=mark))
        plan = Plan(
            tuple(rules),
            str(self._marks),
            self._folder.name,
            patience=_OF_IT * self._bench.patience,
            code=self._code,
            named=self._named,
            allowed=self._allowed,
            path=tuple(p for p in sys.path if p) if self._own else (),
        )
        self._stall.expect(plan.rules)
        placed = plan.write(session.plans)
        spark: Any = self._bench.spark
        spark.sparkContext.setLocalProperty(RUN_PROPERTY, plan.run)
        for key, value in self._partitioning(merged=run.merged).items():
            spark.conf.set(key, value)
        trap: Any = nullcontext()
        if run.trap is not None and run.strike is not None:
            mine = own(self._checkpoint, self._bench.scratch)
            begun = self._marks / run.begun[run.trap]
            trap = Trap(mine, run.trap, begun, self._marks / run.strike.mark)
        try:
            with trap, self._stall:
                ended = self._run(plan, placed, run)
            died, lost = self._leave()
            if lost and not died:
                return Ended(lost, failed=True)
            if died and not ended.error:
                return Ended("the driver died after the callback")
            return ended
        finally:
            self._leave()
            placed.unlink(missing_ok=True)

    def _run(self, plan: Plan, placed: Path, run: Run) -> Ended:
        """Start the query and wait for its end."""
        group = plan.run
        try:
            started = self._start(plan, placed, run)
            group = str(getattr(started, "runId", plan.run))
            patience = round(self._bench.patience)
            if not started.awaitTermination(patience):
                started.stop()
                message = f"the query did not end within {patience} s"
                return Ended(message, late=True)
        except HarnessError as error:
            return Ended(str(error), failed=True)
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001 - any failure ends a query
            self._settle(group)
            return Ended(reason(error), failed=is_lost(error))
        return Ended()

    def _settle(self, group: str) -> None:
        """Let tasks end that a driver left, before the plan is taken from them."""
        context: Any = self._bench.spark.sparkContext
        context.cancelJobGroup(group)
        tracker = context.statusTracker()
        deadline = time.monotonic() + self._bench.patience
        while time.monotonic() < deadline:
            jobs = (tracker.getJobInfo(n) for n in tracker.getJobIdsForGroup(group))
            if not any(job is not None and job.status == "RUNNING" for job in jobs):
                return
            time.sleep(0.01)

    def _start(self, plan: Plan, placed: Path, run: Run) -> Started:
        source, spark = self._bench.source, self._bench.spark
        events = source.stream(spark, self._folder / "input")
        where = self.kind.on_driver
        if where != NOWHERE:
            starts = where == STARTS
            host = self._built.host()
            self._driver = StandIn(host, plan, placed, spark, starts=starts)
            if starts:
                return self._driver.start(events, self._checkpoint)
        start = Start(
            events,
            self._checkpoint,
            plan,
            self._driver,
            lambda batch: source.batch(spark, batch),
            run.offered,
        )
        return self.kind.start(start)

    def _placed(self, rule: Rule) -> Rule:
        paths = tuple(m.format(checkpoint=self._checkpoint) for m in rule.await_)
        return replace(rule, await_=paths)

    def _partitioning(self, *, merged: bool) -> dict[str, str]:
        """Have Spark give each file of a batch a partition of its own, or all one."""
        count, cost = (1, 0) if merged else (self._bench.source.tasks, _OPEN_COST)
        return {
            "spark.sql.files.minPartitionNum": str(count),
            "spark.sql.files.openCostInBytes": str(cost),
        }
