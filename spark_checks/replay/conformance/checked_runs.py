"""Checks the runs of a sink's interleavings against its model, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.conformance.check import Conformer
from onceproof.spark_checks.replay.conformance.omissions import OMISSIONS
from onceproof.spark_checks.replay.conformance.run_trace import (
    BeyondModelError,
    EndOfRun,
    run_trace,
)
from onceproof.spark_checks.replay.conformance.step_meanings import (
    MEANINGS,
    meanings_of,
)
from onceproof.spark_checks.replay.conformance.trace_check import (
    NOT_ASKED,
    TraceCheck,
)
from onceproof.spark_checks.session.java.agent.step_report import read_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onceproof.model.conformance.check import Conformance
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.spark_checks.replay.conformance.omissions import Omission
    from onceproof.spark_checks.replay.conformance.step_meanings import StepMeaning
    from onceproof.spark_checks.replay.run_evidence import RunEvidence
    from onceproof.spark_checks.session.java.agent.step_report import StepReport

_MOST_STATES = 20_000


class CheckedRuns:
    """Checks the runs of one sink; the steps of its model are computed once."""

    def __init__(
        self,
        protocol: Protocol,
        sink: str,
        has: Callable[[str, str], bool],
        meanings: tuple[StepMeaning, ...] = MEANINGS,
        omissions: tuple[Omission, ...] = OMISSIONS,
    ) -> None:
        """Check runs of a ``sink``, named as steps name it, against its ``protocol``.

        ``has`` says which steps an agent reports, of which sinks. ``meanings`` and
        ``omissions`` are those of the protocol.
        """
        self._protocol = protocol
        self._meanings = meanings_of(sink, has, meanings)
        self._omissions = omissions
        self._conformer = Conformer(protocol, most_states=_MOST_STATES)

    def of(self, evidence: RunEvidence) -> TraceCheck:
        """Check the runs of one interleaving."""
        if evidence.observations is None or evidence.folder is None:
            return NOT_ASKED
        if why := _not_comparable(evidence):
            return TraceCheck(unchecked=why)
        ends = [EndOfRun(run.committed) for run in evidence.runs]
        return self.check(read_steps(evidence.folder), ends)

    def check(
        self, steps: Sequence[StepReport], ends: Sequence[EndOfRun]
    ) -> TraceCheck:
        """Check what was reported of runs that ended so, one after the other."""
        if not steps:
            return TraceCheck(unchecked="the agent has reported no step")
        try:
            trace = run_trace(
                self._protocol, self._meanings, steps, ends, self._omissions
            )
        except BeyondModelError as error:
            return TraceCheck(unchecked=str(error))
        found = self._conformer.check(trace)
        if found.undecided:
            return TraceCheck(unchecked=found.undecided)
        return TraceCheck(checked=True, unexplained=_unexplained(found))


def _not_comparable(evidence: RunEvidence) -> str:
    """Say why what was reported is not all that happened, if it is not."""
    runs = evidence.plan.runs
    if evidence.unplanned:
        return "the query was restarted after an error that was not planned"
    if any(run.undo is not None for run in runs):
        return "a checkpoint was edited between two runs"
    if any(run.joined or run.loses_checkpoint for run in runs):
        return "batches are counted anew with a new checkpoint"
    return ""


def _unexplained(found: Conformance) -> tuple[str, ...]:
    one = found.divergence
    if one is None:
        return ()
    lines = [f"no behaviour of the model explains this step: {one.observation.text}"]
    for miss in one.nearest:
        needs = "; ".join(map(str, miss.failed))
        lines.append(f"{miss.event or 'the state'} needs {needs}")
    if one.missing:
        steps = ", ".join(map(str, one.missing))
        lines.append(f"the model explains it after {steps}, which Spark did not take")
    return tuple(lines)
