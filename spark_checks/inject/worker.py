"""Starts Spark's Python workers with failpoints in them.

Spark runs this in place of ``pyspark.daemon``, for tasks and for the processes that
run a DataSource's ``commit`` and ``abort`` on the driver alike.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.inject import sandbox
from onceproof.spark_checks.inject.tracing import zombie
from onceproof.spark_checks.inject.tracing.tracer import Tracer, trace_all, trace_none
from onceproof.spark_checks.inject.worker_memory import WorkerMemory
from onceproof.spark_checks.plan.rules import (
    BATCH_PROPERTY,
    RUN_PROPERTY,
    Place,
    RuleSet,
)
from onceproof.spark_checks.session import spark_internals
from onceproof.spark_checks.session.processes.wire import PLANS_VARIABLE

if TYPE_CHECKING:
    from types import FrameType

PRELOAD = (
    "pyspark.worker",
    "pandas",
    "pyarrow",
    "pyspark.sql.datasource",
    "onceproof.spark_checks.inputs.flights",
    "onceproof.spark_checks.inputs.pass_through",
    "onceproof.spark_checks.sinks.interface",
)
"""What is imported before workers are forked: modules of sinks need it."""


_called: list[Place] = []
"""The place of the commit or abort that this process runs, for threads that it starts.
"""


def where(frame: FrameType) -> Place:
    """Return the batch, partition and attempt that a worker's frame belongs to."""
    from pyspark import TaskContext  # noqa: PLC0415 - in workers only

    context = TaskContext.get()
    if context is not None:
        batch = context.getLocalProperty(BATCH_PROPERTY)
        return Place(
            None if batch is None else int(batch),
            context.partitionId(),
            context.attemptNumber(),
            context.getLocalProperty(RUN_PROPERTY),
        )
    outer: FrameType | None = frame
    while outer is not None:
        commit = spark_internals.commit_in(outer)
        if commit is not None:
            number, source, aborts = commit
            run = source.options.get(RUN_PROPERTY)
            _called[:] = [Place(number, run=run, aborts=aborts)]
            return _called[0]
        outer = outer.f_back
    if _called and threading.current_thread() is not threading.main_thread():
        return _called[0]
    return Place(None, run=None)


def plans() -> list[RuleSet]:
    """Read the plans of all runs that go on now."""
    folder = Path(os.environ.get(PLANS_VARIABLE, os.devnull))
    found = sorted(folder.glob("*.json")) if folder.is_dir() else []
    return [plan for plan in map(RuleSet.read, found) if plan is not None]


def main() -> None:
    """Run Spark's daemon; each task first looks for a plan."""
    for name in PRELOAD:
        # An older Spark does not have all of them.
        with suppress(ImportError):
            importlib.import_module(name)
    module, name = spark_internals.task_runner()
    run = getattr(module, name)
    memory = WorkerMemory()
    memory.install()

    def traced(infile: Any, outfile: Any) -> Any:
        # A worker that is kept waits here for its next task: only what the plan says
        # once that has come is about the run that the task belongs to.
        infile.peek(1)
        _called.clear()
        zombie.feeds(infile)
        found = plans()
        theirs = [place for plan in found for place in plan.path]
        sys.path[:] = dict.fromkeys([*theirs, *sys.path])
        memory.task_comes(found)
        sandbox.install(found)
        tracers = [Tracer(plan, where) for plan in found]
        trace_all(tracers)
        try:
            return run(infile, outfile)
        finally:
            trace_none()
            for tracer in tracers:
                tracer.end()

    setattr(module, name, traced)
    gc.collect()
    gc.freeze()
    spark_internals.daemon().manager()


if __name__ == "__main__":
    main()
