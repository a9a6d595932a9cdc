"""What the runs of one interleaving left behind, before a ledger is read from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onceproof.spark_checks.replay.deviation import AS_PLANNED, Deviation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onceproof.spark_checks.plan.run_plan import InterleavingPlan
    from onceproof.spark_checks.replay.observations import Observations
    from onceproof.spark_checks.sinks.code_points import CodePoint
    from onceproof.spark_checks.sinks.exchanges import Exchange


@dataclass(frozen=True)
class Resumed:
    """What code did that went on after an exchange was cut."""

    batch: int
    """The batch."""
    partition: int = -1
    """The partition; -1 on the driver."""
    points: tuple[CodePoint, ...] = ()
    """The points that an attempt reached from then on."""
    exchanges: tuple[Exchange, ...] = ()
    """All exchanges of the batch, or the task, with the store."""


@dataclass(frozen=True)
class Sent:
    """What a restarted run exchanged with its store in a batch, or in a task."""

    batch: int
    """The batch."""
    partition: int = -1
    """The partition; -1 on the driver."""
    exchanges: tuple[Exchange, ...] = ()
    """All exchanges, in order."""


@dataclass(frozen=True)
class RunRecord:
    """What is known of one run, from its start to its end."""

    how: tuple[str, ...]
    """The failpoints, in words."""
    stop: str
    """The fault that ended it; empty for the last run."""
    moment: str
    """The name of the moment after it."""
    ran: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The points of the user's code that the driver reached, by batch."""
    committed: frozenset[int] = frozenset()
    """The batches that the commit log named at its end."""
    state: int = 0
    """How many steps of the interleaving are done by its end."""
    unreadable: str = ""
    """The error of a reader that failed on what it left."""
    caught: bool = False
    """Whether the user's code caught the error that was to end it, or lost it in a
    thread."""
    went_on: Mapping[int, tuple[CodePoint, ...]] = field(default_factory=dict)
    """The points that the driver's code reached after an exchange was cut, by batch, if
    it caught that error."""
    resumed: tuple[Resumed, ...] = ()
    """What code did that went on after an exchange was cut, in tasks and on the driver.
    """
    sent: tuple[Sent, ...] = ()
    """Its exchanges, if it is a restart that ended well, and they were noted."""
    uncut: Mapping[str, int] = field(default_factory=dict)
    """How many requests it had besides, by the reason why none is cut."""
    worked: Mapping[tuple[int, int], tuple[str, ...]] = field(default_factory=dict)
    """The points that a first attempt reached, by batch and partition."""
    in_tasks: frozenset[str] = frozenset()
    """The points that any attempt reached."""
    in_threads: frozenset[str] = frozenset()
    """The points that threads of the driver reached, besides its main one."""


@dataclass(frozen=True)
class RunEvidence:
    """What the runs of one interleaving left behind."""

    plan: InterleavingPlan
    """The plan that they were steered by."""
    deviation: Deviation = AS_PLANNED
    """How they deviated from the plan; false if they went as planned."""
    folder: Path | None = None
    """The folder of the runs; None if none was begun."""
    runs: tuple[RunRecord, ...] = ()
    """The runs that were finished, in order."""
    observations: Observations | None = None
    """What readers saw; None unless all runs went as planned."""
    unplanned: tuple[str, ...] = ()
    """The errors after which the query was restarted, and the model was not."""
    released_early: bool = False
    """Whether a task that was given up was released early."""
    seconds: float = 0.0
    """How long the runs took."""
    failed_first: str = ""
    """Why an earlier try failed; empty if this is the first."""
