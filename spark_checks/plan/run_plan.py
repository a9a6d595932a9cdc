"""What an interleaving asks of real runs: rules, traps, edits, and expected marks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.plan.rules import CUTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.spark_checks.plan.rules import Rule

BEGIN, END = "begin_task", "end_task"

NO_SUCH_POINT = "no such point"
OUT_OF_REACH = "out of reach"
NOT_MET = "not reached again"
FAILED = "failed to replay"
"""Why an interleaving is not replayed: the sink has no such point or task; no
failpoint reaches a step of Spark's own; the user's code did not reach the point again;
the replay itself failed."""


class NotReplayable(Exception):  # noqa: N818 - an answer, not an error
    """No failpoint realises an interleaving; ``cause`` is one of the above."""

    def __init__(self, message: str, cause: str = OUT_OF_REACH) -> None:
        """Take the reason in words, and its cause."""
        super().__init__(message)
        self.cause = cause


@dataclass(frozen=True, order=True)
class InjectionPoint:
    """Where a fault is injected: at a function, or at a point of the user's code."""

    do: str
    """What the fault does there."""
    function: str
    """The qualified name of the function."""
    event: str
    """``call``, ``return`` or ``exception``."""
    line: str = ""
    """The point of the user's own code; empty if the fault is at none."""
    batch: int = 0
    """The batch."""
    partition: int = -1
    """The partition; -1 on the driver."""
    nth: int = 1
    """Which time the point is reached in the batch, from 1."""

    @property
    def place(self) -> tuple[str, str, str, str]:
        """The place in the code, in whatever batch, task and repetition."""
        return self.do, self.function, self.event, self.line


@dataclass(frozen=True)
class ExpectedMark:
    """A mark that a run leaves if it realises the interleaving."""

    event: str
    """The event of the model that the mark shows."""
    fault: bool
    """Whether that event is a fault."""
    mark: str
    """The name of the mark."""
    what: str
    """How the event was brought about, in words."""
    late: bool = False
    """Whether the mark is left by a process that outlives the run."""


@dataclass(frozen=True)
class RunPlan:
    """One start of the query, up to the fault that ends it or to rest."""

    number: int
    """The number of the run in its interleaving, from 0."""
    offered: int
    """How many batches its input holds."""
    rules: tuple[Rule, ...]
    """The rules of the run."""
    trap: int | None
    """The batch whose entry in the commit log is blocked, if any."""
    undo: tuple[int, frozenset[int]] | None
    """The file sink's commit to undo afterwards: the batch, and the partitions whose
    files stay."""
    merged: bool
    """Whether the run has a single partition."""
    loses_checkpoint: bool
    """Whether the checkpoint is deleted once the run has ended."""
    joined: bool
    """Whether one batch holds all events: a run before this one lost the checkpoint."""
    fails: bool
    """Whether a rule makes the query fail."""
    kills_driver: bool
    """Whether the fault that ends the run is the driver's death, and nothing else."""
    catchable: bool
    """Whether the run ends by an error that the sink's code may catch."""
    how: tuple[str, ...]
    """The failpoints, in words."""
    moment: str
    """The name of the moment after the run."""
    state: int
    """The position in the trace of the state after the run."""
    stop: str
    """The fault that ends the run; empty for the last run."""
    end_mark: ExpectedMark | None
    """The mark of that fault."""
    expected: tuple[ExpectedMark, ...]
    """The other marks that the run must leave."""
    begun: Mapping[int, str]
    """For each batch with faults in its tasks, the mark that a task has begun."""
    hits: tuple[InjectionPoint, ...]
    """The places that faults are injected into."""

    def mark(self, name: str) -> str:
        """Return a name for a mark of this run."""
        return mark_of(self.number, name)


@dataclass(frozen=True)
class InterleavingPlan:
    """What an interleaving asks of real runs, or why no runs can realise it."""

    interleaving: Interleaving
    """The interleaving."""
    runs: tuple[RunPlan, ...] = ()
    """The runs, in order; none if no failpoint realises the interleaving."""
    refusal: str = ""
    """Why no failpoint realises it; empty if there are runs."""
    cause: str = ""
    """The cause of the refusal: one of the constants above."""

    @property
    def hits(self) -> tuple[InjectionPoint, ...]:
        """The places that its faults are injected into."""
        return hits_of(self.runs)

    @property
    def cuts(self) -> bool:
        """Whether a connection to a store breaks in it."""
        return any(rule.do in CUTS for run in self.runs for rule in run.rules)


def mark_of(run: int, name: str) -> str:
    """Return a name for a mark of a run: runs of a query share a folder."""
    return f"{run}-{name}"


def hits_of(runs: Iterable[RunPlan]) -> tuple[InjectionPoint, ...]:
    """List the places that the faults of an interleaving's runs are injected into.

    Tasks that die together with the one that is named are at no place of their own.
    """
    found: list[InjectionPoint] = []
    for run in runs:
        seen: set[tuple[str, ...]] = set()
        for hit in run.hits:
            if hit.place not in seen:
                seen.add(hit.place)
                found.append(hit)
    return tuple(found)


def resumed_file(run: int, batch: int, attempt: int) -> str:
    """Name where an attempt whose connection breaks notes its points."""
    return mark_of(run, f"resumed-{batch}-{attempt}")


def next_attempt_mark(run: int, batch: int, partition: int, attempt: int) -> str:
    """Name the mark that is left where another attempt follows that one."""
    return mark_of(run, f"again-{batch}-{partition}-{attempt}")


def looked_mark(number: int) -> str:
    """Name the mark that is left when a run's results have been read."""
    return f"{number}-looked"
