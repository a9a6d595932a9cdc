"""In which way each run of a plan is ended, or has its faults: for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks.plan.rules import CUTS
from onceproof.spark_checks.plan.spark_steps import is_step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onceproof.spark_checks.plan.run_plan import RunPlan

KILLED = "SIGKILL of the driver and its JVM"
DIED = "death of the process that runs the sink's code; the JVM lives on"
TASKS_DIED = "death of all tasks that are at work, in the place of the driver's"
TASK_DIED = "death of a task's Python process"
AT_STEP = "a stop at a step of Spark's own, by the agent"
EXECUTOR_KILLED = "SIGKILL of an executor"
COPIED = "a slow task, of which Spark runs a speculative copy"
RAISED = "an error that is raised"
GIVEN_UP = "a task that is cut off from Spark and lives on"
CUT = "a connection to the store that breaks"
TRAPPED = "a trap, at which Spark fails to write its commit log"
EDITED = "an edit of the checkpoint after the run"
WITHHELD = "a run whose input ends before the batch"


def ways(runs: Iterable[RunPlan]) -> tuple[str, ...]:
    """Name the ways in which the faults of some runs are realised, each once."""
    return tuple(dict.fromkeys(way for run in runs for way in _of_run(run)))


def _of_run(run: RunPlan) -> Iterator[str]:
    faults = {due.mark for due in run.expected if due.fault}
    end = run.end_mark
    for rule in run.rules:
        if rule.do == "kill":
            yield KILLED
        elif rule.do == "kill_executor":
            yield EXECUTOR_KILLED
        elif rule.do == "slow":
            yield COPIED
        elif rule.do == "zombie":
            yield GIVEN_UP
        elif rule.do in CUTS:
            yield CUT
        elif rule.do == "raise":
            yield RAISED
        elif rule.do == "die" and is_step(rule.function) and rule.mark:
            yield AT_STEP
        elif rule.do == "die" and rule.mark in faults:
            yield TASK_DIED
        elif rule.do == "die" and end is not None and rule.mark == end.mark:
            if rule.partition is None:
                yield DIED
            else:
                yield TASKS_DIED if run.kills_driver else TASK_DIED
    if run.trap is not None:
        yield TRAPPED
    if run.undo is not None:
        yield EDITED
    if run.stop and not run.fails and run.undo is None:
        yield WITHHELD
