"""The commits of a task that has several stores, as the one commit of the model's."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onceproof.spark_checks.session.java.agent.step_report import StepReport

STEP = "commit_state"


def last_commits(steps: Sequence[StepReport], stores: int) -> Iterator[StepReport]:
    """Leave out what tasks report of all their stores but the last.

    A task has committed its state once its last store has; an attempt that ends before
    that has not. More commits than a task has stores are left in: no step of the model
    explains them.
    """
    met: dict[tuple[object, ...], int] = {}
    for one in steps:
        if one.step != STEP:
            yield one
            continue
        task = (one.run, one.batch, one.partition, one.attempt)
        if one.event == "call":
            met[task] = met.get(task, 0) + 1
        if met.get(task, 0) >= stores:
            yield one
