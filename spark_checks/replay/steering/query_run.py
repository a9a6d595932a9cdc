"""Starts a query with the rules of a run, and waits for its end."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.inject.checkpoint_edits import Trap, own
from onceproof.spark_checks.inject.tracing import line_trace
from onceproof.spark_checks.inject.tracing.early_release import Stall
from onceproof.spark_checks.plan.rules import (
    LINES,
    WORK,
    Rule,
    RuleSet,
)
from onceproof.spark_checks.replay.steering.query_start import QueryResult
from onceproof.spark_checks.sinks.code_points import DRIVER, TASK

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.spark_checks.inject.hosts.built_sink import BuiltSink
    from onceproof.spark_checks.plan.run_plan import RunPlan
    from onceproof.spark_checks.replay.steering.query_start import QueryStart
    from onceproof.spark_checks.replay.steering.replay_context import ReplayContext
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
        start: QueryStart,
    ) -> None:
        """Run what is ``built`` in a ``folder``, which is all it may write to."""
        self._context = context
        self._folder = folder
        self._built = built
        self._start = start
        self._starts = 0
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
        self._stall = Stall(self._marks, self._checkpoint, context.stall)

    @property
    def released_early(self) -> bool:
        """Whether a task that was given up went on before its time."""
        return self._stall.released

    def once(self, run: RunPlan) -> QueryResult:
        """Start the query and wait for its end."""
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
        self._starts += 1
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
            workers=self._context.session.workers,
            start=self._starts,
        )
        self._stall.expect(rule_set.rules)
        trap: Any = nullcontext()
        if run.trap is not None and run.end_mark is not None:
            mine = own(self._checkpoint, self._context.scratch)
            begun = self._marks / run.begun[run.trap]
            trap = Trap(mine, run.trap, begun, self._marks / run.end_mark.mark)
        if self._connections is not None:
            self._connections.begin(rule_set)
        try:
            with trap, self._stall:
                ended = self._start.run(rule_set, run)
            if self._connections is not None and not ended.error:
                self._connections.settle(
                    last=run.offered == self._context.source.batches
                )
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
            self._start.end(rule_set)

    def leave(self) -> tuple[bool, str]:
        """End what serves the query; return whether a rule did, or why it failed."""
        return self._start.leave()

    def _placed(self, rule: Rule) -> Rule:
        paths = tuple(m.format(checkpoint=self._checkpoint) for m in rule.await_)
        return replace(rule, await_=paths)
