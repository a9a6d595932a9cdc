"""Starts Spark's Python workers with failpoints in them.

Spark runs this in place of ``pyspark.daemon``, for tasks and for the processes that
run a DataSource's ``commit`` and ``abort`` on the driver alike.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.failpoints.rules import (
    PLAN_VARIABLE,
    Place,
    Plan,
    Tracer,
)

if TYPE_CHECKING:
    from types import FrameType

PRELOAD = ("pyspark.worker", "pandas", "pyarrow", "onceproof.spark_checks.flights")


def where(frame: FrameType) -> Place:
    """Tell the batch, partition and attempt that a worker's frame belongs to."""
    from pyspark import TaskContext  # noqa: PLC0415 - in workers only

    context = TaskContext.get()
    if context is not None:
        batch = context.getLocalProperty("streaming.sql.batchId")
        return Place(
            None if batch is None else int(batch),
            context.partitionId(),
            context.attemptNumber(),
        )
    outer: FrameType | None = frame
    while outer is not None:
        if outer.f_code.co_name == "main" and "batch_id" in outer.f_locals:
            return Place(int(outer.f_locals["batch_id"]))
        outer = outer.f_back
    return Place(None)


def main() -> None:
    """Run Spark's daemon; each task first looks for a plan."""
    for name in PRELOAD:
        importlib.import_module(name)
    daemon: Any = importlib.import_module("pyspark.daemon")
    run = daemon.worker_main

    def traced(infile: Any, outfile: Any) -> Any:
        # A worker that is kept waits here for its next task: only what the plan says
        # once that has come is about the run that the task belongs to.
        infile.peek(1)
        plan = Plan.read(os.environ.get(PLAN_VARIABLE, ""))
        if plan is not None:
            Tracer(plan, where).install()
        try:
            return run(infile, outfile)
        finally:
            sys.settrace(None)

    daemon.worker_main = traced
    gc.collect()
    gc.freeze()
    daemon.manager()


if __name__ == "__main__":
    main()
