"""Runs a batch job for one batch after the other, and notes which are done.

Its notes lie in a checkpoint's folders, under the names that Spark's queries use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks.plan.rules import BATCH_PROPERTY

if TYPE_CHECKING:
    from onceproof.spark_checks.inject.forked_driver import ForkedDriver
    from onceproof.spark_checks.inject.start import Start


class Scheduler:
    """One attempt to run a job for all batches that are offered and not done."""

    def __init__(self, start: Start, job: ForkedDriver) -> None:
        """Run ``job``, in this thread, when its end is awaited."""
        self._start = start
        self._job = job

    def awaitTermination(self, timeout: int) -> bool:  # noqa: ARG002, N802 - Spark's name
        """Run the job; raise where it fails or dies."""
        start = self._start
        if start.batches is None:
            message = "a job needs batches"
            raise RuntimeError(message)
        folders = [start.checkpoint / name for name in ("offsets", "commits")]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        begun, done = folders
        context = start.events.sparkSession.sparkContext
        context.setJobGroup(start.plan.run, "a batch job")
        for batch in range(start.offered):
            if (done / str(batch)).exists():
                continue
            (begun / str(batch)).touch()
            context.setLocalProperty(BATCH_PROPERTY, str(batch))
            try:
                self._job(start.batches(batch), batch)
            finally:
                context.setLocalProperty(BATCH_PROPERTY, None)  # type: ignore[arg-type]
            (done / str(batch)).touch()
        return True

    def stop(self) -> None:
        """Do nothing: the job has ended when its end has been awaited."""
