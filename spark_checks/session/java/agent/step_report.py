"""The report of a run's durable steps: one line for each, in a file of the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FILE = "steps.tsv"
REFUSED = "refused"
"""The event of a step that is not taken after all, once it was called."""


@dataclass(frozen=True)
class StepReport:
    """One durable step of Spark's, as the agent has seen it."""

    nanos: int
    """When: Java's ``System.nanoTime``, which orders the steps of one JVM."""
    run: int
    """The number of the run in its interleaving, from 0."""
    step: str
    """The name of the step."""
    event: str
    """``call`` before the step, ``return`` once it has taken effect; ``refused`` after
    a call that is not taken, because its process dies there, or is dead."""
    batch: int | None
    """The batch; None for a step that belongs to none."""
    partition: int | None
    """The partition; None on the driver."""
    attempt: int | None
    """The attempt; None on the driver."""
    thread: str
    """The name of the thread."""


def read_steps(folder: Path) -> tuple[StepReport, ...]:
    """Read the durable steps of the runs of a folder, in the order of their time."""
    path = folder / FILE
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return tuple(sorted(map(step_in, lines), key=lambda step: step.nanos))


def step_in(line: str) -> StepReport:
    """Read a line of a report. Raises ``ValueError`` for one of another form."""
    nanos, run, step, event, batch, partition, attempt, thread = line.split("\t")
    return StepReport(
        int(nanos),
        int(run),
        step,
        event,
        _number(batch),
        _number(partition),
        _number(attempt),
        thread,
    )


def _number(text: str) -> int | None:
    return int(text) if int(text) >= 0 else None
