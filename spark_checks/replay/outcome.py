"""The outcome of an interleaving, and which of the user's lines outcomes cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.plan.merged_points import alike
from onceproof.spark_checks.plan.rules import (
    CALLBACK,
    CUTS,
    LATE_REQUEST,
    LINES,
    LOSE_REPLY,
    LOSE_REQUEST,
    UNDO,
    WORK,
)
from onceproof.spark_checks.plan.ways import ways
from onceproof.spark_checks.replay.conformance.trace_check import NOT_ASKED
from onceproof.spark_checks.sinks.code_points import (
    ABORT,
    DRIVER,
    TASK,
    installed,
    returns,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.properties.ledger import History
    from onceproof.spark_checks.plan.run_plan import InjectionPoint
    from onceproof.spark_checks.replay.conformance.trace_check import TraceCheck
    from onceproof.spark_checks.replay.run_evidence import RunEvidence, RunRecord
    from onceproof.spark_checks.sinks.code_points import SeenPoints
    from onceproof.spark_checks.sinks.exchanges import SeenExchanges


_NOT_CUT = {
    LOSE_REQUEST: "before",
    LOSE_REPLY: "after the answer to",
    LATE_REQUEST: "with a delay of",
}
_WHERE = {DRIVER: LINES, TASK: WORK, ABORT: UNDO}


@dataclass(frozen=True)
class Outcome:
    """The outcome of replaying an interleaving."""

    interleaving: Interleaving
    """The interleaving."""
    model: History | None
    """What the model observes; None for a user's own sink."""
    spark: History | None
    """What readers of the real sink observed; None if there is no such observation."""
    failpoints: tuple[str, ...]
    """How each fault was injected, in words."""
    seconds: float
    """How long the replay took."""
    not_replayed: str = ""
    """Why it was not replayed; empty if it was."""
    known: bool = False
    """Whether no failpoint can realise it, whatever is tried."""
    unplanned: tuple[str, ...] = ()
    """The errors after which the query was restarted, and the model was not."""
    runs: tuple[RunRecord, ...] = ()
    """The runs, in order."""
    cause: str = ""
    """Why it was not replayed, as one of the causes of ``plan/run_plan.py``."""
    hits: tuple[InjectionPoint, ...] = ()
    """The places that faults were injected into."""
    released_early: bool = False
    """Whether a task that was given up was released early, because others waited for
    its lock. What readers saw is judged, though the order is not the model's."""
    failed_first: str = ""
    """The reason of the first failure, if another try has helped."""
    ways: tuple[str, ...] = ()
    """The ways in which its faults were realised: see ``plan/ways.py``."""
    trace: TraceCheck = NOT_ASKED
    """Whether the steps that an agent reported are a behaviour of the model."""

    @property
    def drift(self) -> bool:
        """Whether Spark and the model differ, in a step or in what readers see."""
        return bool(self.trace.unexplained) or (
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
        """Whether it has no verdict, though a failpoint realises it."""
        return (self.not_replayed != "" and not self.known) or self.unread != ""

    @property
    def suspect(self) -> bool:
        """Whether there is something to look into: drift, or steering that failed."""
        return self.drift or self.missed


def outcome_of(
    evidence: RunEvidence,
    *,
    model: History | None,
    spark: History | None,
    trace: TraceCheck = NOT_ASKED,
) -> Outcome:
    """Return the outcome, once the ledgers of the model and of Spark are read."""
    plan, deviation = evidence.plan, evidence.deviation
    return Outcome(
        plan.interleaving,
        model=model,
        spark=spark,
        failpoints=tuple(what for run in plan.runs for what in run.how),
        seconds=evidence.seconds,
        not_replayed=plan.refusal or deviation.reason,
        known=bool(plan.refusal) or deviation.known,
        unplanned=evidence.unplanned,
        runs=evidence.runs,
        cause=plan.cause or deviation.cause,
        hits=plan.hits,
        released_early=evidence.released_early,
        failed_first=evidence.failed_first,
        ways=ways(plan.runs),
        trace=trace,
    )


def never_hit(seen: SeenPoints | None, outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """List the lines of a user's code without a replayed fault before them.

    A death at another line counts if it leaves the same.
    """
    if seen is None:
        return ()
    hits = {
        hit for outcome in outcomes if outcome.spark is not None for hit in outcome.hits
    }
    hit = {(hit.function, hit.line) for hit in hits}
    hit |= {(hit.function, p.text) for hit in hits for p in alike(seen, hit)}
    return tuple(
        text
        for where, texts in seen.lines.items()
        for text in sorted(texts)
        if (_WHERE[where], text) not in hit
    )


def never_cut(
    exchanges: SeenExchanges | None, outcomes: Iterable[Outcome]
) -> tuple[str, ...]:
    """List the exchanges that no replayed fault cuts before, or none after."""
    if exchanges is None:
        return ()
    cut = {
        (hit.do, hit.line)
        for outcome in outcomes
        if outcome.spark is not None
        for hit in outcome.hits
    }
    return tuple(
        f"{_NOT_CUT[do]} {place}"
        for place in sorted(exchanges.places)
        for do in CUTS
        if (do, place) not in cut
    )


def unforeseen(seen: SeenPoints | None, outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """List the user's lines that ran before any fault, and not in the fault-free run.

    Points are the lines of the first run: no fault is injected before any other.
    """
    return tuple(sorted(_others(seen, (_ran_before(one) for one in outcomes))))


def after_faults(
    seen: SeenPoints | None, outcomes: Iterable[Outcome]
) -> tuple[str, ...]:
    """List the user's lines that ran only after a fault: no fault hits them."""
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
    """Return the lines of the user's own code that are no points."""
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
