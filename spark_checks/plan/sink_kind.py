"""What the plan of a sink's faults needs to know of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onceproof.spark_checks.plan.run_plan import NotReplayable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onceproof.model.language.steps import Event
    from onceproof.spark_checks.plan.run_draft import RunDraft

NOWHERE, CALLED, STARTS = "nowhere", "called", "starts"
"""What runs on the driver: nothing, a callback of Spark's, or what starts a query."""


class SinkKind:
    """One sink under test, as the plan of its faults sees it."""

    on_driver: ClassVar[str] = NOWHERE

    def steps(self) -> Mapping[str, str]:
        """Name, for rules, the steps of the model that Spark takes by itself."""
        return {}

    def before_offsets(
        self,
        run: RunDraft,  # noqa: ARG002 - for subclasses
        batch: int,  # noqa: ARG002
        committed: int | None,  # noqa: ARG002
    ) -> bool:
        """End the run before a batch begins; return whether that can be done.

        ``committed`` is the last batch that the run has committed, if any.
        """
        return False

    def before_log_commit(self, run: RunDraft, batch: int) -> None:
        """End the run when the sink is done with a batch, and its log is not."""
        run.sets_trap(batch)

    def before_tasks(self, run: RunDraft, batch: int) -> bool:  # noqa: ARG002 - for subclasses
        """End the run before a batch's tasks start; return whether that can be done."""
        return False

    def inside(
        self, run: RunDraft, written: set[int], step: Event, *, again: bool
    ) -> None:
        """End the run before a step that Spark takes by itself.

        ``written`` holds the partitions whose tasks are done by then; ``again`` says
        that an earlier run committed the batch to the sink.
        """
        del run, written, again
        message = f"{step} happens inside Spark, out of reach"
        raise NotReplayable(message)

    def undo(self, checkpoint: Path, batch: int, written: frozenset[int]) -> None:
        """Undo a commit that ``inside`` planned to undo."""
        raise NotImplementedError

    def edits(self) -> Path | None:
        """Name the folder that ``undo`` edits, if any."""
        return None

    def no_abort(self, run: RunDraft, batch: int) -> None:
        """Let no abort be called: a driver that is dead calls none."""
        del run, batch

    def mortal_only(self) -> str:
        """Return why no task that is given up can live on, if none can."""
        return ""

    def unseen_rows(self) -> str:
        """Return why it is not known which rows a task has left that dies at its end.

        That matters where Spark's own writer writes them.
        """
        return "how many of a task's rows Spark's own writer has sent is not known"
