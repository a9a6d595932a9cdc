"""Faults at Spark's own durable steps, which a session with an agent can inject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks.plan.sink_kind import SinkKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from onceproof.model.language.steps import Event
    from onceproof.spark_checks.plan.rules import Rule
    from onceproof.spark_checks.plan.run_draft import RunDraft

_PREFIX = "Spark's step "
FILES = "files"
"""Whose steps those of Spark's own file writer are, in the table of steps."""
_WRITE, _MANIFEST = "write", "add_to_manifest"
_OF_FILES = (
    (_WRITE, FILES),
    ("commit_task", FILES),
    ("abort_task", FILES),
    (_MANIFEST, FILES),
    ("abort", FILES),
)
_OF_ALL = ("log_offsets", "start_batch", "log_commit")


def at_step(name: str) -> str:
    """Return the ``function`` of rules for a durable step of Spark's."""
    return f"{_PREFIX}{name}"


def is_step(function: str) -> bool:
    """Return whether a rule's function is a durable step of Spark's."""
    return function.startswith(_PREFIX)


def step_of(rule: Rule) -> str:
    """Return the name of the step that a rule is for; empty if it is for none."""
    return rule.function.removeprefix(_PREFIX) if is_step(rule.function) else ""


class InsideSpark(SinkKind):
    """A sink in a session with an agent: faults come at Spark's own steps.

    A driver that dies at one takes no further step, and so undoes nothing.
    """

    def __init__(self, kind: SinkKind, *, files: bool) -> None:
        """Plan as for ``kind`` otherwise; ``files`` are written by Spark's writer."""
        self._kind = kind
        self._files = files

    def steps(self) -> Mapping[str, str]:
        """Name the steps of the model that Spark takes by itself."""
        if not self._files:
            return self._kind.steps()
        return {_WRITE: at_step(_WRITE), f"sink.{_MANIFEST}": at_step(_MANIFEST)}

    def before_offsets(self, run: RunDraft, batch: int, committed: int | None) -> bool:
        """Let the driver die once it has logged that the batch before is done."""
        if committed is None or committed != batch - 1:
            return False
        run.stops(at_step("log_commit"), "return", committed, "die")
        return True

    def before_log_commit(self, run: RunDraft, batch: int) -> None:
        """Let the driver die as it is about to log that the batch is done."""
        run.stops(at_step("log_commit"), "call", batch, "die")

    def before_tasks(self, run: RunDraft, batch: int) -> bool:
        """Let the driver die as it is about to run the batch."""
        run.stops(at_step("start_batch"), "call", batch, "die")
        return True

    def inside(
        self, run: RunDraft, written: set[int], step: Event, *, again: bool
    ) -> None:
        """Do what is done without an agent."""
        self._kind.inside(run, written, step, again=again)

    def undo(self, checkpoint: Path, batch: int, written: frozenset[int]) -> None:
        """Undo what ``inside`` planned to undo."""
        self._kind.undo(checkpoint, batch, written)

    def edits(self) -> Path | None:
        """Name the folder that ``undo`` edits, if any."""
        return self._kind.edits()

    def no_abort(self, run: RunDraft, batch: int) -> None:
        """Let a dead driver take nothing back: neither the job, nor its tasks."""
        self._kind.no_abort(run, batch)
        stopped = run.mark("stopped")
        for step in ("abort", "abort_task"):
            run.rule(at_step(step), "call", batch, "die", after=stopped)

    def mortal_only(self) -> str:
        """Let tasks of Spark's own file writer live on, too."""
        return "" if self._files else self._kind.mortal_only()

    def unseen_rows(self) -> str:
        """Return why it is not known which rows a task has left that dies."""
        return self._kind.unseen_rows()


def inside_spark(
    kind: SinkKind, has: Callable[[str, str], bool], *, files: bool
) -> SinkKind:
    """Return how faults are planned in a session that ``has`` some steps.

    Where it lacks one that is needed, faults are planned as without an agent.
    """
    if not all(has(step, "") for step in _OF_ALL):
        return kind
    return InsideSpark(kind, files=files and all(has(*step) for step in _OF_FILES))
