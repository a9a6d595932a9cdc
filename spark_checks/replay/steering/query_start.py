"""One start of a query, with the rules of a run, and its end."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.failures.failure_reason import is_lost, reason
from onceproof.spark_checks.inject.forked_driver import ForkedDriver
from onceproof.spark_checks.inject.start import Start
from onceproof.spark_checks.plan.rules import RUN_PROPERTY, RuleSet
from onceproof.spark_checks.plan.sink_kind import NOWHERE, STARTS
from onceproof.spark_checks.plan.spark_steps import step_of
from onceproof.spark_checks.session.java.agent.agent import StepRule
from onceproof.spark_checks.session.processes.host_processes import HostError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from onceproof.spark_checks.inject.adapters import Adapter
    from onceproof.spark_checks.inject.hosts.built_sink import BuiltSink
    from onceproof.spark_checks.inject.start import StartedQuery
    from onceproof.spark_checks.inputs.event_files import InputFiles
    from onceproof.spark_checks.plan.run_plan import RunPlan
    from onceproof.spark_checks.session.java.agent.agent import Agent
    from onceproof.spark_checks.session.processes.host_processes import Host
    from onceproof.spark_checks.session.warm_session import WarmSession
    from onceproof.spark_checks.sinks.interface import ModelledSink

_OPEN_COST = 4 * 2**20


@dataclass(frozen=True)
class QueryResult:
    """How one start of the query ended."""

    error: str = ""
    """Its error; empty if it ended well."""
    late: bool = False
    """Whether it ran out of time."""
    failed: bool = False
    """Whether it failed for a reason that is not the sink's."""


class QueryStart(Protocol):
    """Starts a query once, and waits for its end."""

    def run(self, rule_set: RuleSet, run: RunPlan) -> QueryResult:
        """Start the query with the rules of a run; return how it ended."""

    def leave(self) -> tuple[bool, str]:
        """End what serves the query; return whether a rule did, or why it failed."""

    def end(self, rule_set: RuleSet) -> None:
        """Take the rules back."""


class OwnDrivers(Protocol):
    """Starts each query in a driver with a JVM of its own."""

    def start_of(
        self,
        source: InputFiles,
        folder: Path,
        built: BuiltSink,
        sink: ModelledSink,
        patience: float,
    ) -> QueryStart:
        """Return what starts the query of a sink, whose runs are in a ``folder``."""

    def close(self) -> None:
        """End all drivers; start no more."""


class HasHosts(Protocol):
    """A sink that processes of its own can run."""

    def next_run(self) -> Host:
        """Return a process for another run of the query, which has run nothing yet."""


class StartInSession:
    """Starts a query in a session of this process.

    The driver's side of the sink is in a host, whose death is the driver's.
    """

    def __init__(
        self,
        session: WarmSession,
        spark: SparkSession,
        source: InputFiles,
        folder: Path,
        built: HasHosts,
        adapter: Adapter,
        patience: float,
    ) -> None:
        """Run what is ``built`` over the input and the checkpoint in a ``folder``."""
        self._session = session
        self._spark = spark
        self._source = source
        self._folder = folder
        self._built = built
        self._kind = adapter
        self._patience = patience
        self._checkpoint = folder / "checkpoint"
        self._driver: ForkedDriver | None = None
        self._placed: Path | None = None

    def run(self, rule_set: RuleSet, run: RunPlan) -> QueryResult:
        """Start the query with the rules of a run; return how it ended."""
        session = self._session
        session.settle()
        session.copy_slow_tasks(on=any(rule.do == "slow" for rule in rule_set.rules))
        self._placed = placed = rule_set.write(session.plans)
        if session.agent is not None:
            self._arm(session.agent, rule_set, run)
        spark: Any = self._spark
        spark.sparkContext.setLocalProperty(RUN_PROPERTY, rule_set.run)
        for key, value in self._partitioning(merged=run.merged).items():
            spark.conf.set(key, value)
        return self._run(rule_set, placed, run)

    def leave(self) -> tuple[bool, str]:
        """End the driver's host; return whether a rule ended it, or why it failed.

        That may have been a thread of it, after the last callback.
        """
        driver, self._driver = self._driver, None
        if driver is None:
            return False, ""
        died = driver.close()
        return died, driver.lost

    def end(self, rule_set: RuleSet) -> None:
        """Take the rules from processes and from the agent."""
        self._session.copy_slow_tasks(on=False)
        if self._placed is not None:
            self._placed.unlink(missing_ok=True)
        if self._session.agent is not None:
            self._session.agent.disarm(rule_set.run)

    def _run(self, rule_set: RuleSet, placed: Path, run: RunPlan) -> QueryResult:
        """Start the query and wait for its end."""
        group = rule_set.run
        try:
            started = self._start(rule_set, placed, run)
            group = str(getattr(started, "runId", rule_set.run))
            patience = round(self._patience)
            if not started.awaitTermination(patience):
                started.stop()
                message = f"the query did not end within {patience} s"
                return QueryResult(message, late=True)
        except HostError as error:
            return QueryResult(str(error), failed=True)
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001 - any failure ends a query
            self._settle(group)
            return QueryResult(reason(error), failed=is_lost(error))
        return QueryResult()

    def _settle(self, group: str) -> None:
        """Let tasks end that a driver left, before the plan is taken from them."""
        context: Any = self._spark.sparkContext
        context.cancelJobGroup(group)
        tracker = context.statusTracker()
        deadline = time.monotonic() + self._patience
        while time.monotonic() < deadline:
            jobs = (tracker.getJobInfo(n) for n in tracker.getJobIdsForGroup(group))
            if not any(job is not None and job.status == "RUNNING" for job in jobs):
                return
            time.sleep(0.01)

    def _start(self, rule_set: RuleSet, placed: Path, run: RunPlan) -> StartedQuery:
        source, spark = self._source, self._spark
        events = source.stream(spark, self._folder / "input", joined=run.joined)
        where = self._kind.on_driver
        if where != NOWHERE:
            starts = where == STARTS
            host = self._built.next_run()
            self._driver = ForkedDriver(host, rule_set, placed, spark, starts=starts)
            if starts:
                return self._driver.start(events, self._checkpoint)
        start = Start(
            events,
            self._checkpoint,
            rule_set,
            self._driver,
            lambda batch: source.batch(spark, batch),
            run.offered,
        )
        return self._kind.start(start)

    def _arm(self, agent: Agent, rule_set: RuleSet, run: RunPlan) -> None:
        """Have the agent report the steps of the run, and do what rules say there."""
        rules = [
            StepRule(
                step=step,
                event=rule.event,
                batch=rule.batch,
                do=f"kill {rule_set.group}" if rule.do == "kill" else rule.do,
                partition=rule.partition,
                attempt=rule.attempt,
                nth=rule.nth,
                await_=rule.await_,
                mark=rule.mark,
                once=rule.once,
                after=rule.after,
            )
            for rule in rule_set.rules
            if (step := step_of(rule))
        ]
        folder, patience = self._folder, rule_set.patience
        marks = folder / "marks"
        agent.arm(rule_set.run, run.number, folder, marks, rules, patience)

    def _partitioning(self, *, merged: bool) -> dict[str, str]:
        """Have Spark give each file of a batch a partition of its own, or all one."""
        count, cost = (1, 0) if merged else (self._source.tasks, _OPEN_COST)
        return {
            "spark.sql.files.minPartitionNum": str(count),
            "spark.sql.files.openCostInBytes": str(cost),
        }
