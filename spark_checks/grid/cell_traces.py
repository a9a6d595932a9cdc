"""Whether what Spark did in a cell is a behaviour of the model of its query."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onceproof.model.library import make
from onceproof.spark_checks.grid.model_parts import (
    QUERIES,
    UNPREDICTED,
    engine_of,
    parts_of,
    unmodelled,
)
from onceproof.spark_checks.grid.task_stores import last_commits
from onceproof.spark_checks.queries import events
from onceproof.spark_checks.replay.conformance.checked_runs import CheckedRuns
from onceproof.spark_checks.replay.conformance.trace_check import TraceCheck
from onceproof.spark_checks.session.java.agent.step_report import read_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from onceproof.spark_checks.grid.logged_batches import BatchLogs
    from onceproof.spark_checks.queries.configuration import QueryConfiguration
    from onceproof.spark_checks.queries.query_spec import QuerySpec
    from onceproof.spark_checks.session.java.agent.step_report import StepReport


class CellTraces:
    """Checks the runs of one query in one configuration against its model."""

    def __init__(
        self,
        query: QuerySpec,
        configuration: QueryConfiguration,
        has: Callable[[str, str], bool],
    ) -> None:
        """Find the model; ``has`` says which steps an agent reports, of which sinks."""
        self._query = query
        self._configuration = configuration
        self._has = has
        self._checked: dict[tuple[int, int, int], CheckedRuns] = {}

    def of(self, folder: Path, logs: Sequence[BatchLogs]) -> TraceCheck:
        """Check the runs that were reported in a ``folder``.

        ``logs`` are those that each run has left.
        """
        return self.check(read_steps(folder), logs)

    def check(
        self, steps: Sequence[StepReport], logs: Sequence[BatchLogs]
    ) -> TraceCheck:
        """Check what was reported of runs that have left these logs, in their order."""
        if missing := unmodelled(self._query, self._configuration):
            return TraceCheck(unchecked=f"{missing}: {UNPREDICTED[missing]}")
        modelled = QUERIES[self._query.name]
        steps = tuple(last_commits(steps, modelled.stores))
        engine = engine_of(self._query, self._configuration)
        watermarked = self._query.watermarked
        ends = [one.end(engine, watermarked=watermarked) for one in logs]
        known = [one.partition for one in steps if one.partition is not None]
        partitions = max(known, default=self._configuration.partitions - 1) + 1
        # Each run but the last ends by a fault, and each attempt but the first follows
        # one.
        faults = len(ends) - 1 + _repeated(steps)
        # An attempt that no step tells of has changed nothing that one of the model's
        # does not: with those that were reported, there is less to look at.
        attempts = 1 + max((one.attempt or 0 for one in steps), default=0)
        size = partitions, attempts, faults
        if size not in self._checked:
            self._checked[size] = self._runs(*size)
        return self._checked[size].check(steps, ends)

    def _runs(self, partitions: int, attempts: int, faults: int) -> CheckedRuns:
        engine = engine_of(self._query, self._configuration)
        sizes = {
            "BATCH": len(events.BATCHES),
            "PARTITION": partitions,
            "ATTEMPT": attempts,
            "faults": faults,
        }
        parts = parts_of(self._query, self._configuration)
        settings = parts | {name: str(size) for name, size in sizes.items()}
        return CheckedRuns(
            make(engine.protocol, settings),
            engine.sinks[self._configuration.sink],
            self._has,
            engine.meanings,
            engine.omissions,
        )


def _repeated(steps: Sequence[StepReport]) -> int:
    """Count the attempts of tasks that are not the first."""
    calls = Counter(one.step for one in steps if one.event == "call" and one.attempt)
    return max(calls.values(), default=0)
