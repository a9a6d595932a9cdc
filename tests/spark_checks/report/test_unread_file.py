"""A replay that no reader could read is written down, and can be looked at."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.text import shell_word
from onceproof.properties.counterexample.file import read
from onceproof.properties.explorer.view_builder import explored
from onceproof.properties.guarantees import ATOMIC_VISIBILITY, RECOVERABLE
from onceproof.properties.ledger import EventOutcome, History, Row
from onceproof.spark_checks.inputs.flights import flights_input
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.replay.outcome import Outcome
from onceproof.spark_checks.replay.run_evidence import RunRecord
from onceproof.spark_checks.replay.sink_report import SinkReport
from onceproof.spark_checks.report.assessment import AssessmentRequest, _unread
from onceproof.spark_checks.report.counterexamples import RequestingTest
from tests.spark_checks.steering import SINKS, SMALL

ERROR = "ValueError: half a file"
SINK = SINKS["foreach-batch-append"]


def unread():
    """Report one interleaving, after whose fault the reader failed."""
    protocol = protocol_of(SINK, SMALL)
    classes = interleavings(protocol)
    one = classes.classes[0]
    seen = tuple(EventOutcome(promised=False, visible=n) for n in (0, 1))
    moments = ("after crash()", "at rest")
    rows = (Row(0, accepted=True, outcomes=seen),)
    history = History(moments, rows, (0, 0), unread=(0,), errors=(ERROR,))
    at = one.faults[0] + 1
    runs = (
        RunRecord(("it dies",), "crash()", moments[0], state=at, unreadable=ERROR),
        RunRecord((), "", moments[1], state=len(one.trace.steps)),
    )
    outcome = Outcome(one, None, history, ("it dies",), 0.1, runs=runs)
    model = SimpleNamespace(verdicts={})
    given = flights_input(SMALL)
    return SinkReport(SINK, protocol, classes, model, given, (outcome,))


def test_what_was_undecided_is_written_with_its_story(tmp_path):
    """The file reads as a counterexample does, and says that nothing is known."""
    test = RequestingTest(claims=(RECOVERABLE, ATOMIC_VISIBILITY))
    request = AssessmentRequest(Path(), tmp_path, test=test)

    file, story = _unread(unread(), request, ["what was left out"])

    written = read(Path(file))
    shown = explored(written).view
    text = "\n".join(story)
    assert written.property == "atomic-visibility"
    assert written.undecided()
    assert shown.fails_at is None
    assert shown.because == written.because
    assert "atomic-visibility is undecided" in " ".join(shown.notes)
    assert f"the reader failed: {ERROR}" in text
    assert "breaks here" not in text
    assert "what was left out" in text
    assert text.endswith(f"onceproof explore {shell_word(file)}")


def test_nothing_is_written_where_every_claim_was_observed(tmp_path):
    """The end was read, and that is all that the claim asks."""
    test = RequestingTest(claims=(RECOVERABLE,))
    request = AssessmentRequest(Path(), tmp_path, test=test)

    assert _unread(unread(), request, ["a line"]) == ("", ["a line"])
    assert not any(tmp_path.iterdir())
