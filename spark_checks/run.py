"""One real run of a sink, steered through one interleaving."""

from __future__ import annotations

import shutil
import time
import uuid
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from onceproof.properties.ledger import History, observe_states
from onceproof.spark_checks.failpoints.checkpoint import (
    Trap,
    committed,
    own,
    undo_file_commit,
)
from onceproof.spark_checks.failpoints.driver import HUNG, LOG, mortal, still
from onceproof.spark_checks.failpoints.realise import NotReplayable, Run, realise
from onceproof.spark_checks.failpoints.rules import RUN_PROPERTY, Plan, Rule
from onceproof.spark_checks.flights import query
from onceproof.spark_checks.observe import Telling
from onceproof.spark_checks.sinks.interface import (
    Foreach,
    ForeachBatch,
    Format,
    Target,
    UnderTest,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from onceproof.model.interleavings import Interleaving
    from onceproof.model.language.plain import Reference as Semantics
    from onceproof.model.language.protocol import Protocol
    from onceproof.spark_checks.flights import Source
    from onceproof.spark_checks.observe import Observer
    from onceproof.spark_checks.session import WarmSession
    from onceproof.spark_checks.sinks.interface import Build, Reference

_PATIENCE = 60
_RESTARTS = 3


@dataclass(frozen=True)
class Outcome:
    """What came of replaying an interleaving.

    ``not_replayed`` says why there is no history of Spark's, if there is none.
    """

    interleaving: Interleaving
    model: History | None
    spark: History | None
    failpoints: tuple[str, ...]
    seconds: float
    not_replayed: str = ""

    @property
    def drift(self) -> bool:
        """Whether Spark and the model ended up differently."""
        return (
            self.model is not None
            and self.spark is not None
            and self.model.shape() != self.spark.shape()
        )


@dataclass(frozen=True)
class Bench:
    """What all runs of a replay share."""

    session: WarmSession
    spark: SparkSession
    source: Source
    observer: Observer
    scratch: Path


@dataclass(frozen=True)
class Ran:
    """An interleaving that was run, or not: its ledgers are still to be read."""

    interleaving: Interleaving
    model: History | None
    telling: Telling | None
    failpoints: tuple[str, ...]
    seconds: float
    not_replayed: str = ""

    def judged(self, spark: History | None) -> Outcome:
        """Give the outcome, now that Spark's ledger is read."""
        return Outcome(
            self.interleaving,
            self.model,
            spark,
            self.failpoints,
            self.seconds,
            self.not_replayed,
        )


def run_one(
    bench: Bench,
    build: Build,
    one: Interleaving,
    protocol: Protocol,
    semantics: Semantics,
    description: Reference,
) -> Ran:
    """Run a fresh sink through an interleaving, looking at it as it goes."""
    began = time.perf_counter()
    name = f"onceproof_{uuid.uuid4().hex}"
    folder = bench.scratch / name
    target = Target(folder / "sink", name)
    target.path.mkdir(parents=True)
    (folder / "marks").mkdir()
    with still():
        under_test = build(target)
    try:
        runs = realise(one, protocol, description, under_test)
    except NotReplayable as reason:
        shutil.rmtree(folder, ignore_errors=True)
        return Ran(one, None, None, (), 0.0, str(reason))
    trial = _Trial(bench, folder, under_test)
    problem = ""
    for run in runs:
        problem = trial.go(run)
        if problem:
            break
    failpoints = tuple(h for run in runs for h in run.how)
    if problem:
        seconds = time.perf_counter() - began
        return Ran(one, None, None, failpoints, seconds, problem)
    seen = {run.moment: one.trace.states[run.state] for run in runs}
    model = observe_states(semantics, seen)
    telling = Telling(
        tuple(seen), tuple(trial.looks), tuple(trial.promised), trial.rested
    )
    shutil.rmtree(folder, ignore_errors=True)
    return Ran(one, model, telling, failpoints, time.perf_counter() - began)


class _Trial:
    """The runs of one query over one checkpoint."""

    def __init__(self, bench: Bench, folder: Path, under_test: UnderTest) -> None:
        self._bench = bench
        self._folder = folder
        self._under_test = under_test
        self._checkpoint = folder / "checkpoint"
        self.looks: list[Any] = []
        self.promised: list[set[int]] = []
        self.rested = False

    def go(self, run: Run) -> str:
        """Make one run and look at what it left; say what went otherwise than told."""
        self._bench.source.offer(self._folder / "input", run.offered)
        stops = run.fails
        if stops:
            failed = self._once(run)
            if not failed:
                return "the failpoint was never met: " + "; ".join(run.how)
        else:
            failed = self._until_rest(run)
        if (self._folder / "marks" / HUNG).exists():
            where = (self._folder / "marks" / LOG).read_text()
            return f"the process that stands for the driver hung:\n{where}"
        if run.undo is not None:
            batch, written = run.undo
            table = own(self._folder / "sink" / "table", self._bench.scratch)
            undo_file_commit(table, self._checkpoint, batch, written)
        missing = [z for z in run.zombies if not self._landed(z)]
        if missing:
            return "the zombie's work never landed"
        with still():
            self.looks.append(
                self._bench.observer.look(self._bench.spark, self._under_test.read)
            )
        self.promised.append(committed(self._checkpoint))
        self.rested = not failed
        return ""

    def _until_rest(self, run: Run) -> bool:
        return all(self._once(run) for _ in range(_RESTARTS))

    def _once(self, run: Run) -> bool:
        """Start the query and wait for its end; say whether it failed."""
        session = self._bench.session
        marks = str(self._folder / "marks")
        rules = tuple(self._placed(r) for r in run.rules)
        plan = Plan(rules, marks, self._folder.name)
        placed = plan.write(session.plans)
        spark: Any = self._bench.spark
        spark.sparkContext.setLocalProperty(RUN_PROPERTY, plan.run)
        for key, value in _PARTITIONING[run.merged].items():
            spark.conf.set(key, value) if value else spark.conf.unset(key)
        trap: Any = nullcontext()
        if run.trap is not None:
            trap = Trap(own(self._checkpoint, self._bench.scratch), run.trap)
        try:
            with trap:
                with still():
                    started = self._start(plan)
                try:
                    if not started.awaitTermination(_PATIENCE):
                        started.stop()
                        return True
                except Exception as error:  # noqa: BLE001 - any failure ends a query
                    self.error = str(error)
                    return True
            return False
        finally:
            placed.unlink(missing_ok=True)

    def _start(self, plan: Plan) -> Any:
        bench, under_test = self._bench, self._under_test
        frame = query(bench.spark, self._folder / "input", bench.source.tasks)
        writer = frame.writeStream.option(
            "checkpointLocation", str(self._checkpoint)
        ).trigger(availableNow=True)
        if isinstance(under_test, ForeachBatch):
            return writer.foreachBatch(mortal(under_test.write, plan)).start()
        if isinstance(under_test, Foreach):
            return writer.foreach(under_test.writer).start()
        return self._start_format(writer, under_test)

    def _start_format(self, writer: Any, under_test: Format) -> Any:
        name = under_test.name
        if isinstance(name, type):
            source: Any = name
            self._bench.spark.dataSource.register(source)
            writer = writer.option(RUN_PROPERTY, self._folder.name)
            name = source.name()
        return writer.format(name).options(**under_test.options).start()

    def _placed(self, rule: Rule) -> Rule:
        paths = tuple(m.format(checkpoint=self._checkpoint) for m in rule.await_)
        return replace(rule, await_=paths)

    def _landed(self, mark: str) -> bool:
        path = self._folder / "marks" / mark
        deadline = time.monotonic() + _PATIENCE / 2
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.002)
        return path.exists()


_PARTITIONING = {
    False: {
        "spark.sql.files.minPartitionNum": None,
        "spark.sql.files.openCostInBytes": None,
    },
    True: {
        "spark.sql.files.minPartitionNum": "1",
        "spark.sql.files.openCostInBytes": "0",
    },
}
