"""What is asked of every kind of walks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.traces import follow
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from onceproof.model.language.interpreter import Interpreter
    from onceproof.properties.judges.by_search import Report


def assert_honest(report: Report, reference: Interpreter, depth: int) -> None:
    """Assert that walks refute only what the search refutes, and claim no more."""
    searched = check(report.protocol).verdicts
    for finding in report.findings:
        name, verdict = finding.property.name, finding.verdict
        assert verdict in (Verdict.HELD, Verdict.REFUTED, Verdict.UNDECIDED)
        if verdict is Verdict.REFUTED:
            assert searched[name] is Verdict.REFUTED
        if name == "meets" and verdict is Verdict.HELD:
            assert searched[name] is Verdict.EXHAUSTED
        if finding.trace is not None:
            shown = finding.trace
            assert len(shown.events) <= depth
            assert shown.start in list(reference.initial_states())
            assert follow(reference, shown.start, shown.events).states == shown.states
