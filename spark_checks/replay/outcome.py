"""What came of steering a sink through an interleaving."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from onceproof.spark_checks.plan.rules import CALLBACK, LINES, UNDO, WORK
from onceproof.spark_checks.sinks.code_points import (
    ABORT,
    DRIVER,
    TASK,
    installed,
    returns,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.properties.ledger import History
    from onceproof.spark_checks.plan.run_plan import InjectionPoint
    from onceproof.spark_checks.replay.observations import Observations
    from onceproof.spark_checks.sinks.code_points import SeenPoints


_WHERE = {DRIVER: LINES, TASK: WORK, ABORT: UNDO}


@dataclass(frozen=True)
class RunRecord:
    """What is known of one run, from its start to its end.

    ``ran`` holds by batch the points of the user's code on the driver that it came to;
    ``committed`` the batches that the commit log named when it had ended. ``state`` is
    how many steps of the interleaving it makes whole, with those of runs before it.
    ``unreadable`` is the error of a reader that failed on what it left. The error that
    was to end it may have been ``caught``, or lost in a thread. ``worked`` holds, by
    batch and partition, the points that a first attempt came to; ``in_tasks``
    holds those of all attempts.
    """

    how: tuple[str, ...]
    stop: str
    moment: str
    ran: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    committed: frozenset[int] = frozenset()
    state: int = 0
    unreadable: str = ""
    caught: bool = False
    worked: Mapping[tuple[int, int], tuple[str, ...]] = field(default_factory=dict)
    in_tasks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Outcome:
    """What came of replaying an interleaving.

    ``not_replayed`` says why there is no history of Spark's, if there is none;
    ``known`` whether that was clear from the start, for want of a failpoint, and
    ``cause`` which of the causes it is (``plan/run_plan.py``). ``hits`` are the
    places that faults were injected into. A task that was given up may have been
    ``released_early``, for others waited for a lock that it held: what readers then
    saw is judged, though its order is not the model's.
    ``unplanned`` holds the errors for which the query had to be started once more
    than the model has it. ``folder`` is what is kept of the runs, for inspection.
    What was not replayed for a failure of ours may go well if it is done ``again``;
    where it did, ``failed_first`` is the reason of the failure.
    """

    interleaving: Interleaving
    model: History | None
    spark: History | None
    failpoints: tuple[str, ...]
    seconds: float
    not_replayed: str = ""
    known: bool = False
    unplanned: tuple[str, ...] = ()
    folder: Path | None = None
    runs: tuple[RunRecord, ...] = ()
    cause: str = ""
    hits: tuple[InjectionPoint, ...] = ()
    released_early: bool = False
    again: bool = False
    failed_first: str = ""

    @property
    def drift(self) -> bool:
        """Whether Spark did otherwise than the model."""
        return (
            self.model is not None
            and self.spark is not None
            and (bool(self.unplanned) or self.model.shape() != self.spark.shape())
        )

    @property
    def unread(self) -> str:
        """Why readers fail once the query has finished, if they do."""
        last = None if self.spark is None else len(self.spark.moments) - 1
        if self.spark is None or last not in self.spark.unread:
            return ""
        return self.runs[-1].unreadable if self.runs else "readers fail"

    @property
    def unread_before(self) -> tuple[str, ...]:
        """Why readers fail at moments before the end, one reason for each moment."""
        return tuple(run.unreadable for run in self.runs[:-1] if run.unreadable)

    @property
    def missed(self) -> bool:
        """Whether nothing can be said of it, though a failpoint realises it."""
        return (self.not_replayed != "" and not self.known) or self.unread != ""

    @property
    def suspect(self) -> bool:
        """Whether there is something to look into: drift, or steering that failed."""
        return self.drift or self.missed


@dataclass(frozen=True)
class UnjudgedOutcome:
    """An interleaving that was run, or not: Spark's ledger is still to be read."""

    outcome: Outcome
    observations: Observations | None = None

    def judged(self, spark: History | None) -> Outcome:
        """Give the outcome, now that Spark's ledger is read."""
        return replace(self.outcome, spark=spark)


def never_hit(seen: SeenPoints | None, outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """List the lines of a user's code that no replayed fault was injected before."""
    if seen is None:
        return ()
    hit = {
        (hit.function, hit.line)
        for outcome in outcomes
        if outcome.spark is not None
        for hit in outcome.hits
    }
    return tuple(
        text
        for where, texts in seen.lines.items()
        for text in sorted(texts)
        if (_WHERE[where], text) not in hit
    )


def unforeseen(seen: SeenPoints | None, outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """List the user's lines that ran before any fault, and not in the first run.

    Points are the lines of the first run: no fault is injected before any other.
    """
    return tuple(sorted(_others(seen, (_ran_before(one) for one in outcomes))))


def after_faults(
    seen: SeenPoints | None, outcomes: Iterable[Outcome]
) -> tuple[str, ...]:
    """List the user's lines that ran after a fault alone: no fault hits them."""
    kept = list(outcomes)
    ran = (
        text
        for one in kept
        for run in one.runs
        for texts in (*run.ran.values(), run.in_tasks)
        for text in texts
    )
    return tuple(sorted(_others(seen, [ran]) - {*unforeseen(seen, kept)}))


def _others(seen: SeenPoints | None, found: Iterable[Iterable[str]]) -> set[str]:
    """Give the lines of the user's own that are no points."""
    if seen is None:
        return set()
    known = {text for texts in seen.lines.values() for text in texts}
    return {
        text
        for texts in found
        for text in texts
        if text not in known and not returns(text) and not installed(text)
    }


def _ran_before(outcome: Outcome) -> Iterator[str]:
    """Yield what ran before the one fault of an interleaving."""
    if len(outcome.hits) != 1 or not outcome.runs:
        return
    [hit] = outcome.hits
    for batch, texts in outcome.runs[0].ran.items():
        if batch < hit.batch or (batch == hit.batch and hit.do in ("die", "trap")):
            on_driver = hit.function in (LINES, CALLBACK, "commits")
            yield from texts if batch < hit.batch or on_driver else ()
        elif batch == hit.batch and (hit.do, hit.function) == ("raise", LINES):
            at = [n for n, text in enumerate(texts) if text == hit.line]
            yield from texts[: at[hit.nth - 1]] if len(at) >= hit.nth else ()
    for (batch, partition), texts in outcome.runs[0].worked.items():
        died = hit.function == WORK and hit.do == "die" and hit.partition == partition
        if batch < hit.batch or (batch == hit.batch and died):
            yield from texts
