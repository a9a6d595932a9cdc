"""Notes the outcomes of a sink's interleavings, and recalls those noted before.

What deserves to be looked into is never recalled: it is replayed anew, and leaves its
folder again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from onceproof.spark_checks.plan.ways import ways
from onceproof.spark_checks.replay.conformance.trace_check import TraceCheck
from onceproof.spark_checks.replay.journal.records import digest_of, record_of, runs_of
from onceproof.spark_checks.replay.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.properties.ledger import History
    from onceproof.spark_checks.plan.run_plan import InterleavingPlan
    from onceproof.spark_checks.replay.journal.journal import Journal
    from onceproof.spark_checks.replay.run_evidence import RunRecord

    ModelView: TypeAlias = Callable[
        [InterleavingPlan, tuple[RunRecord, ...]], History | None
    ]
    """Observes the model where some runs looked; None for a sink without a model."""


class Recording:
    """What one sink's replay notes in its journal, and recalls from it."""

    def __init__(self, journal: Journal | None, faults: int) -> None:
        """Note interleavings of up to so many faults; nothing without a journal."""
        self._journal = journal
        self._faults = faults
        self._digests: dict[int, str] = {}
        self._left_out: set[str] = set()
        self.recalled = 0

    def recall(self, plan: InterleavingPlan, model: ModelView) -> Outcome | None:
        """Return the outcome that was noted for a plan and not recalled yet, if any."""
        if self._journal is None or plan.refusal:
            return None
        record = self._journal.recall(self._digest(plan))
        if record is None:
            return None
        runs = runs_of(record)
        outcome = Outcome(
            plan.interleaving,
            model=model(plan, runs),
            spark=record.seen,
            failpoints=tuple(what for run in plan.runs for what in run.how),
            seconds=record.milliseconds / 1000,
            unplanned=record.unplanned,
            runs=runs,
            hits=plan.hits,
            released_early=record.released_early,
            failed_first=record.failed_first,
            ways=ways(plan.runs),
            trace=TraceCheck(record.conforms, unchecked=record.unchecked),
        )
        if outcome.suspect:
            return None
        self.recalled += 1
        return outcome

    def note(self, plan: InterleavingPlan, outcome: Outcome) -> None:
        """Note an outcome, unless there is something to look into.

        Of a plan with such an outcome nothing is noted any more: its next replay would
        else be recalled in its place.
        """
        if self._journal is None or plan.refusal:
            return
        digest = self._digest(plan)
        if outcome.spark is None or outcome.suspect:
            self._left_out.add(digest)
        elif digest not in self._left_out:
            self._journal.note(record_of(outcome, digest))

    def _digest(self, plan: InterleavingPlan) -> str:
        number = plan.interleaving.number
        if number not in self._digests:
            self._digests[number] = digest_of(plan, self._faults)
        return self._digests[number]
