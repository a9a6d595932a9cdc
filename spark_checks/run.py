"""One real run of a sink, steered through one interleaving."""

from __future__ import annotations

import itertools
import re
import shutil
import time
import uuid
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from onceproof.model.errors import UsageError
from onceproof.properties.ledger import History, observe_states
from onceproof.spark_checks import events
from onceproof.spark_checks.failpoints.checkpoint import Trap, entries, own
from onceproof.spark_checks.failpoints.driver import HUNG, LOG
from onceproof.spark_checks.failpoints.kinds import Start, kind_of
from onceproof.spark_checks.failpoints.realise import realise
from onceproof.spark_checks.failpoints.rules import (
    LINES,
    RUN_PROPERTY,
    UNMET,
    Plan,
    Rule,
)
from onceproof.spark_checks.failpoints.runs import NotReplayable, Run, looked
from onceproof.spark_checks.flights import query
from onceproof.spark_checks.observe import Telling
from onceproof.spark_checks.sinks.interface import Target

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import SparkSession

    from onceproof.model.interleavings import Interleaving
    from onceproof.model.language.plain import Reference as Semantics
    from onceproof.model.language.protocol import Protocol
    from onceproof.spark_checks.failpoints.runs import Due
    from onceproof.spark_checks.flights import Source
    from onceproof.spark_checks.observe import Observer
    from onceproof.spark_checks.session import WarmSession
    from onceproof.spark_checks.sinks.interface import Reference, UnderTest

    _News: TypeAlias = events.Step | events.Fault

_PATIENCE = 60
_RESTARTS = 3
_OPEN_COST = 4 * 2**20
_RAISED = re.compile(r"[\w.]*(Error|Exception): ")


@dataclass(frozen=True)
class Outcome:
    """What came of replaying an interleaving.

    ``not_replayed`` says why there is no history of Spark's, if there is none;
    ``known`` whether that was clear from the start, for want of a failpoint.
    ``unplanned`` holds the errors for which the query had to be started once more
    than the model has it. ``folder`` is what is kept of the runs, for inspection.
    """

    interleaving: Interleaving
    model: History | None
    spark: History | None
    failpoints: tuple[str, ...]
    seconds: float
    not_replayed: str = ""
    known: bool = False
    unplanned: tuple[str, ...] = ()
    folder: Path | None = None

    @property
    def drift(self) -> bool:
        """Whether Spark did otherwise than the model."""
        return (
            self.model is not None
            and self.spark is not None
            and (bool(self.unplanned) or self.model.shape() != self.spark.shape())
        )

    @property
    def suspect(self) -> bool:
        """Whether there is something to look into: drift, or steering that failed."""
        return self.drift or (self.not_replayed != "" and not self.known)


@dataclass(frozen=True)
class Bench:
    """What all runs of a replay share.

    ``still`` is held by a thread of ours that does anything but wait: see ``mortal``.
    """

    session: WarmSession
    spark: SparkSession
    source: Source
    observer: Observer
    scratch: Path
    still: AbstractContextManager[object]


@dataclass(frozen=True)
class Ran:
    """An interleaving that was run, or not: Spark's ledger is still to be read."""

    outcome: Outcome
    telling: Telling | None = None

    def judged(self, spark: History | None) -> Outcome:
        """Give the outcome, now that Spark's ledger is read."""
        return replace(self.outcome, spark=spark)


@dataclass(frozen=True)
class Case:
    """What is to be steered: an interleaving of a sink's model."""

    one: Interleaving
    protocol: Protocol
    semantics: Semantics
    sink: Reference


def run_one(bench: Bench, case: Case, tell: Callable[[events.Event], None]) -> Ran:
    """Run a fresh sink through an interleaving, looking at it as it goes."""
    began = time.perf_counter()
    one, sink = case.one, case.sink
    name = f"onceproof_{uuid.uuid4().hex}"
    folder = bench.scratch / name
    target = Target(folder / "sink", name)
    target.path.mkdir(parents=True)
    (folder / "marks").mkdir()
    with bench.still:
        under_test = sink.build(target)
    nothing = Outcome(one, None, None, (), 0.0, folder=folder)
    try:
        runs = realise(one, case.protocol, sink, under_test)
    except NotReplayable as reason:
        return Ran(replace(nothing, not_replayed=str(reason), known=True))
    trial = _Trial(bench, folder, under_test, sink.code)
    problem = _WELL
    for run in runs:
        problem = trial.go(run)
        for kind, what in trial.news(run, well=not problem):
            tell(kind(sink.name, one.number, what))
        if problem:
            break
    if trial.rested and not problem:
        tell(events.Recovered(sink.name, one.number))
    outcome = replace(
        nothing,
        failpoints=tuple(h for run in runs for h in run.how),
        seconds=time.perf_counter() - began,
        not_replayed=problem.reason,
        known=problem.known,
        unplanned=tuple(trial.unplanned),
    )
    if problem:
        return Ran(outcome)
    seen = {run.moment: one.trace.states[run.state] for run in runs}
    model = None if sink.code else observe_states(case.semantics, seen)
    telling = Telling(
        tuple(seen), tuple(trial.looks), tuple(trial.promised), trial.rested
    )
    return Ran(replace(outcome, model=model), telling)


def lines_of(bench: Bench, sink: Reference, batches: int) -> dict[int, list[str]]:
    """Run a sink once, with no fault, and list the lines that its driver's code runs.

    Raises ``UsageError`` where the sink fails by itself.
    """
    name = f"onceproof_{uuid.uuid4().hex}"
    folder = bench.scratch / name
    target = Target(folder / "sink", name)
    target.path.mkdir(parents=True)
    (folder / "marks").mkdir()
    with bench.still:
        under_test = sink.build(target)
    run = Run(number=0, offered=batches)
    for batch in range(batches):
        run.rule(LINES, "call", batch, "note", mark=f"lines-{batch}")
    trial = _Trial(bench, folder, under_test, sink.code)
    problem = trial.go(run)
    if problem or trial.unplanned:
        why = problem.reason or trial.unplanned[0]
        message = f"{sink.name} fails though nothing was done to it: {why}"
        raise UsageError(message)
    found = {}
    for batch in range(batches):
        notes = folder / "marks" / f"lines-{batch}"
        found[batch] = notes.read_text().splitlines() if notes.exists() else []
    shutil.rmtree(folder, ignore_errors=True)
    return found


@dataclass(frozen=True)
class _Ended:
    """How one start of the query ended; ``error`` is empty where it ended well."""

    error: str = ""
    late: bool = False


@dataclass(frozen=True)
class _Amiss:
    """Why a run was not the one that was planned; ``known`` if none can ever be."""

    reason: str = ""
    known: bool = False

    def __bool__(self) -> bool:
        return bool(self.reason)


_WELL = _Amiss()


class _Trial:
    """The runs of one query over one checkpoint."""

    def __init__(
        self, bench: Bench, folder: Path, under_test: UnderTest, code: str
    ) -> None:
        self._bench = bench
        self._code = code
        self._folder = folder
        self._marks = folder / "marks"
        self._read = under_test.read
        self._kind = kind_of(under_test)
        self._checkpoint = folder / "checkpoint"
        self.looks: list[Any] = []
        self.promised: list[set[int]] = []
        self.unplanned: list[str] = []
        self.rested = False
        self._told: set[int] = set()

    def go(self, run: Run) -> _Amiss:
        """Make one run and look at what it left; say what went otherwise than told."""
        self._bench.source.offer(self._folder / "input", run.offered)
        before = entries(self._checkpoint, "offsets")
        ended = self._once(run)
        problem = self._amiss(run, ended, before)
        if problem:
            return problem
        if not run.fails:
            problem = self._heal(run, ended)
            if problem:
                return problem
        if run.undo is not None:
            edited = self._kind.edits()
            if edited is not None:
                own(edited, self._bench.scratch)
            self._kind.undo(own(self._checkpoint, self._bench.scratch), *run.undo)
        with self._bench.still:
            self.looks.append(self._bench.observer.look(self._bench.spark, self._read))
        self.promised.append(entries(self._checkpoint, "commits"))
        (self._marks / looked(run.number)).touch()
        return _WELL

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

    def _heal(self, run: Run, ended: _Ended) -> _Amiss:
        """Start the query again where it failed though nothing was to strike it.

        The model has no such restart: each is noted, and makes the result drift.
        """
        again = replace(run, rules=[], trap=None)
        restarts = 0
        while ended.error and restarts < _RESTARTS:
            self.unplanned.append(ended.error)
            ended = self._once(again)
            restarts += 1
            if ended.late:
                return _Amiss(ended.error)
        self.rested = not ended.error
        return _WELL

    def _amiss(self, run: Run, ended: _Ended, before: set[int]) -> _Amiss:
        """Say why a run was not the one that was planned, if it was not.

        ``before`` holds the batches that had been begun before the run.
        """
        if (self._marks / HUNG).exists():
            where = (self._marks / LOG).read_text()
            return _Amiss(f"the process that stands for the driver hung:\n{where}")
        idle = [
            batch
            for batch, mark in run.begun.items()
            if batch in before and not (self._marks / mark).exists()
        ]
        if idle and not ended.error:
            # The model lets tasks run that change nothing; the sink runs none.
            message = f"no task of batch {idle[0]} runs again, so none can be struck"
            return _Amiss(message, known=True)
        missing = [d for d in run.due if not self._left(d)]
        unmet = sorted(self._marks.glob(f"{UNMET}-*"))
        if unmet:
            return _Amiss("; ".join(f.read_text() for f in unmet))
        if ended.late:
            return _Amiss(ended.error)
        besides = f"; the query failed: {ended.error}" if ended.error else ""
        if run.strike is not None and not self._left(run.strike):
            # How many lines a user's code runs is its own affair.
            fewer = bool(self._code) and not ended.error
            return _Amiss(f"never struck: {run.strike.what}{besides}", known=fewer)
        if missing:
            never = "; ".join(d.what for d in missing)
            return _Amiss(f"never struck: {never}{'' if run.fails else besides}")
        if run.fails and not ended.error:
            return _Amiss(f"the query went on after {'; '.join(run.how)}")
        return _WELL

    def _left(self, due: Due) -> bool:
        """Say whether a mark was left; wait for one that is left late."""
        path = self._marks / due.mark
        deadline = time.monotonic() + (_PATIENCE if due.late else 0)
        while not path.exists():
            if time.monotonic() > deadline or any(self._marks.glob(f"{UNMET}-*")):
                return False
            time.sleep(0.002)
        return True

    def _once(self, run: Run) -> _Ended:
        """Start the query and wait for its end."""
        session = self._bench.session
        rules = tuple(self._placed(r) for r in run.rules)
        plan = Plan(rules, str(self._marks), self._folder.name, code=self._code)
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
            with trap:
                with self._bench.still:
                    started = self._start(plan)
                try:
                    if not started.awaitTermination(_PATIENCE):
                        started.stop()
                        message = f"the query did not end within {_PATIENCE} s"
                        return _Ended(message, late=True)
                except Exception as error:  # noqa: BLE001 - any failure ends a query
                    return _Ended(reason(error))
            return _Ended()
        finally:
            placed.unlink(missing_ok=True)

    def _start(self, plan: Plan) -> Any:
        bench = self._bench
        frame = query(bench.spark, self._folder / "input", bench.source.tasks)
        writer = frame.writeStream.option(
            "checkpointLocation", str(self._checkpoint)
        ).trigger(availableNow=True)
        return self._kind.start(Start(bench.spark, writer, plan, bench.still))

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


def reason(error: Exception) -> str:
    """Give the line of a failure that says most: what Python raised, if it did."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = itertools.takewhile(lambda line: not line.startswith("==="), lines)
    raised = [line for line in told if _RAISED.match(line)]
    return (raised or lines or [type(error).__name__])[-1 if raised else 0][:300]
