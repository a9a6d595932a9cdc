"""Faults of the grid at Spark's own steps, by the agent, which reports each step."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault
from onceproof.spark_checks.grid.logged_batches import BatchLogs, read_logs
from onceproof.spark_checks.plan.rules import RUN_PROPERTY
from onceproof.spark_checks.session.java.agent.agent import StepRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from onceproof.spark_checks.queries.sources.event_source import QueryInput
    from onceproof.spark_checks.session.java.agent.agent import Agent

MARKS = "agent"
_FIRED, _DONE = "0-stopped", "0-done"
_STATE = "commit_state"

DRIVER_DIES: Mapping[GridFault, tuple[str, str]] = {
    GridFault.BEFORE_OFFSETS: ("log_offsets", "call"),
    GridFault.AFTER_OFFSETS: ("log_offsets", "return"),
    GridFault.IN_TASKS: (_STATE, "return"),
    GridFault.BEFORE_COMMITS: ("log_commit", "call"),
    GridFault.BEFORE_LOGS: ("log_offsets", "call"),
}
"""The step that the driver dies at: before it, or once it has taken effect."""

TASK_DIES: Mapping[GridFault, str] = {
    GridFault.TASK_BEFORE_STATE: "call",
    GridFault.TASK_AFTER_STATE: "return",
}
"""When the first attempt of each task dies: before it commits its state, or after."""


def realised(placed: PlacedFault, *, stateful: bool) -> bool:
    """Return whether a step of Spark's is where the fault is.

    No task of a query without state commits any.
    """
    if placed.fault in TASK_DIES or placed.fault is GridFault.IN_TASKS:
        return stateful
    return placed.fault in DRIVER_DIES


def rules_of(placed: PlacedFault, partitions: int) -> list[StepRule]:
    """Return what the agent does for a fault that is at a step of Spark's."""
    batch = placed.batch
    if event := TASK_DIES.get(placed.fault, ""):
        return [StepRule(_STATE, event, batch, "die", attempt=0, mark=_FIRED)]
    if placed.fault not in DRIVER_DIES:
        return []
    step, event = DRIVER_DIES[placed.fault]
    if placed.fault is GridFault.BEFORE_LOGS:
        # The thread that writes logs waits until the batch is done.
        waits = StepRule(
            step, event, batch, "end", await_=(_DONE,), mark=_FIRED, once=True
        )
        return [StepRule("sink_commit", "return", batch, "pass", mark=_DONE), waits]
    if step != _STATE:
        return [StepRule(step, event, batch, "end", mark=_FIRED, once=True)]
    rest = range(1, partitions)
    return [
        StepRule(step, event, batch, "end", partition=0, mark=_FIRED, once=True),
        # The other tasks have not committed when the driver dies.
        *(
            StepRule(step, "call", batch, "die", partition=p, await_=(_FIRED,))
            for p in rest
        ),
    ]


class WatchedRuns:
    """The runs of one cell, with what the agent reports of them."""

    def __init__(
        self, agent: Agent, folder: Path, source: QueryInput, patience: float
    ) -> None:
        """Keep reports in the query's ``folder``; it reads a ``source``.

        A task waits for another one with this ``patience``, in seconds.
        """
        self._source = source
        self.folder = folder
        self._agent = agent
        self._patience = patience
        self._name = f"{folder.parent.name}-{folder.name}"
        self._marks = self.folder / MARKS
        self.logs: list[BatchLogs] = []

    @property
    def fired(self) -> bool:
        """Whether the fault has happened."""
        return (self._marks / _FIRED).exists()

    @contextmanager
    def run(
        self, spark: SparkSession, checkpoint: Path, rules: list[StepRule]
    ) -> Iterator[None]:
        """Watch a run, with the ``rules`` of its fault; note what its logs name then.

        Rules that have fired already are not those of a later run.
        """
        self._marks.mkdir(parents=True, exist_ok=True)
        armed = [] if self.fired else rules
        context = spark.sparkContext
        self._agent.arm(
            self._name,
            len(self.logs),
            self.folder,
            self._marks,
            armed,
            self._patience,
        )
        context.setLocalProperty(RUN_PROPERTY, self._name)
        try:
            yield
        finally:
            context.setLocalProperty(RUN_PROPERTY, None)  # type: ignore[arg-type]
            self._agent.disarm(self._name)
            self.logs.append(
                read_logs(
                    checkpoint, self._source, self.logs[-1] if self.logs else None
                )
            )
