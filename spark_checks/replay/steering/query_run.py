"""Starts a query with the rules of a run, and waits for its end."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.checkpoint_edits import Trap, own
from onceproof.spark_checks.inject.failures.failure_reason import is_lost, reason
from onceproof.spark_checks.inject.forked_driver import ForkedDriver
from onceproof.spark_checks.inject.start import Start
from onceproof.spark_checks.inject.tracing import line_trace
from onceproof.spark_checks.inject.tracing.early_release import Stall
from onceproof.spark_checks.plan.rules import (
    LINES,
    RUN_PROPERTY,
    WORK,
    Rule,
    RuleSet,
)
from onceproof.spark_checks.plan.sink_kind import NOWHERE, STARTS
from onceproof.spark_checks.plan.spark_steps import step_of
from onceproof.spark_checks.session.java.agent.agent import StepRule
from onceproof.spark_checks.session.processes.host_processes import HostError
from onceproof.spark_checks.sinks.code_points import DRIVER, TASK

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.spark_checks.inject.adapters import Adapter
    from onceproof.spark_checks.inject.hosts.built_sink import BuiltSink
    from onceproof.spark_checks.inject.start import StartedQuery
    from onceproof.spark_checks.plan.run_plan import RunPlan
    from onceproof.spark_checks.replay.steering.replay_context import ReplayContext
    from onceproof.spark_checks.session.java.agent.agent import Agent
    from onceproof.spark_checks.sinks.interface import ModelledSink
OF_PATIENCE = 0.75
_OPEN_COST = 4 * 2**20


class QueryRun:
    """Starts one query over one checkpoint, repeatedly, and waits for its end."""

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
        self._folder = folder
        self._built = built
        self._kind = adapter
        self._own = bool(sink.code)
        self._sink = sink.name
        self._code = sink.code
        self._named = sink.named
        self._steps = tuple(sink.steps.values())
        self._connections = built.connections
        allowed = (str(context.scratch), *sink.allowed, *built.allowed)
        self._allowed = allowed if sink.code else None
        self._marks = folder / "marks"
        self._checkpoint = folder / "checkpoint"
        self._driver: ForkedDriver | None = None
        self._stall = Stall(self._marks, self._checkpoint, context.stall)

    @property
    def released_early(self) -> bool:
        """Whether a task that was given up went on before its time."""
        return self._stall.released

    def once(self, run: RunPlan) -> QueryResult:
        """Start the query and wait for its end."""
        session = self._context.session
        rules = [self._placed(r) for r in run.rules]
        if self._own:
            for batch in range(run.offered):
                mark = run.mark(line_trace.file_of(DRIVER, batch))
                rules.append(Rule(LINES, "call", batch, "note", mark=mark))
                mark = run.mark(line_trace.file_of(TASK, batch))
                rules.append(Rule(WORK, "call", batch, "first", mark=mark))
        elif self._connections is not None:
            # A call of these is a point that exchanges are found by.
            rules += [
                Rule(function, "call", batch, "pass")
                for function in self._steps
                for batch in range(run.offered)
            ]
        rule_set = RuleSet(
            tuple(rules),
            str(self._marks),
            self._folder.name,
            patience=OF_PATIENCE * self._context.patience,
            code=self._code,
            named=self._named,
            allowed=self._allowed,
            path=tuple(p for p in sys.path if p) if self._own else (),
            sink=self._sink,
            watched=self._connections is not None,
        )
        self._stall.expect(rule_set.rules)
        placed = rule_set.write(session.plans)
        if session.agent is not None:
            self._arm(session.agent, rule_set, run)
        spark: Any = self._context.spark
        spark.sparkContext.setLocalProperty(RUN_PROPERTY, rule_set.run)
        for key, value in self._partitioning(merged=run.merged).items():
            spark.conf.set(key, value)
        trap: Any = nullcontext()
        if run.trap is not None and run.end_mark is not None:
            mine = own(self._checkpoint, self._context.scratch)
            begun = self._marks / run.begun[run.trap]
            trap = Trap(mine, run.trap, begun, self._marks / run.end_mark.mark)
        if self._connections is not None:
            self._connections.begin(rule_set)
        try:
            with trap, self._stall:
                ended = self._run(rule_set, placed, run)
            if self._connections is not None and not ended.error:
                self._connections.settle()
            died, lost = self.leave()
            if lost and not died:
                return QueryResult(lost, failed=True)
            if died and not ended.error:
                return QueryResult("the driver died after the callback")
            return ended
        finally:
            self.leave()
            if self._connections is not None:
                self._connections.end()
            placed.unlink(missing_ok=True)
            if session.agent is not None:
                session.agent.disarm(rule_set.run)

    def _run(self, rule_set: RuleSet, placed: Path, run: RunPlan) -> QueryResult:
        """Start the query and wait for its end."""
        group = rule_set.run
        try:
            started = self._start(rule_set, placed, run)
            group = str(getattr(started, "runId", rule_set.run))
            patience = round(self._context.patience)
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
        context: Any = self._context.spark.sparkContext
        context.cancelJobGroup(group)
        tracker = context.statusTracker()
        deadline = time.monotonic() + self._context.patience
        while time.monotonic() < deadline:
            jobs = (tracker.getJobInfo(n) for n in tracker.getJobIdsForGroup(group))
            if not any(job is not None and job.status == "RUNNING" for job in jobs):
                return
            time.sleep(0.01)

    def _start(self, rule_set: RuleSet, placed: Path, run: RunPlan) -> StartedQuery:
        source, spark = self._context.source, self._context.spark
        events = source.stream(spark, self._folder / "input", joined=run.joined)
        where = self._kind.on_driver
        if where != NOWHERE:
            starts = where == STARTS
            host = self._built.host()
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
                do=rule.do,
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
        agent.arm(rule_set.run, run.number, folder, self._marks, rules, patience)

    def _placed(self, rule: Rule) -> Rule:
        paths = tuple(m.format(checkpoint=self._checkpoint) for m in rule.await_)
        return replace(rule, await_=paths)

    def _partitioning(self, *, merged: bool) -> dict[str, str]:
        """Have Spark give each file of a batch a partition of its own, or all one."""
        count, cost = (1, 0) if merged else (self._context.source.tasks, _OPEN_COST)
        return {
            "spark.sql.files.minPartitionNum": str(count),
            "spark.sql.files.openCostInBytes": str(cost),
        }

    def leave(self) -> tuple[bool, str]:
        """End the driver's host; return whether a rule ended it, or why it failed.

        That may have been a thread of it, after the last callback.
        """
        driver, self._driver = self._driver, None
        if driver is None:
            return False, ""
        died = driver.close()
        return died, driver.lost


@dataclass(frozen=True)
class QueryResult:
    """How one start of the query ended."""

    error: str = ""
    """Its error; empty if it ended well."""
    late: bool = False
    """Whether it ran out of time."""
    failed: bool = False
    """Whether it failed for a reason that is not the sink's."""
