"""What else a sink breaks stands beside the failure that is shown in full."""

from __future__ import annotations

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.properties.guarantees import EFFECTIVELY_ONCE, RECOVERABLE, guarantees_of
from onceproof.properties.judges.by_search import check
from onceproof.properties.ledger import EventOutcome, History, Row
from onceproof.spark_checks.inputs.flights import flights_input
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.replay.outcome import Outcome
from onceproof.spark_checks.replay.sink_report import SinkReport
from onceproof.spark_checks.report.causes import broken_besides
from tests.spark_checks.steering import SINKS, SMALL

SINK = SINKS["foreach-batch-append"]
CLAIMS = (EFFECTIVELY_ONCE, RECOVERABLE)
TWICE, LOST, ONCE = 2, 0, 1
SEES = "after the query finished, readers see 1 of 1 event"


@pytest.fixture(scope="module")
def report():
    protocol = protocol_of(SINK, SMALL)
    found = interleavings(protocol)
    judged = check(protocol, guarantees_of(protocol))

    def make(*seen, **rest):
        runs = []
        for number, times in enumerate(seen):
            row = Row(0, accepted=True, outcomes=(EventOutcome(False, times),))
            history = History(("at rest",), (row,), (0,))
            one, fault = found.classes[number], f"fault {number}"
            runs.append(Outcome(one, None, history, (fault,), 0.1))
        given = flights_input(SMALL)
        return SinkReport(SINK, protocol, found, judged, given, tuple(runs), **rest)

    return make


def besides(report, number, claims=CLAIMS):
    return broken_besides(report, EFFECTIVELY_ONCE, report.outcomes[number], claims)


def test_another_claim_and_the_run_that_breaks_it_are_named(report):
    """A duplicate is shown in full; what loses an event is another story."""
    found = report(TWICE, LOST, LOST)
    first = found.first_break(RECOVERABLE).failpoints[0]

    assert besides(found, 0) == [f"not recoverable: {first}; {SEES} not at all"]


def test_a_run_that_breaks_the_same_claim_in_another_way_is_named_once(report):
    """The first of them is enough."""
    found = report(TWICE, LOST, LOST, ONCE)

    found_besides = besides(found, 0, [EFFECTIVELY_ONCE])

    assert found_besides == [f"in another run: fault 1; {SEES} not at all"]


def test_what_the_same_run_breaks_needs_no_second_story(report):
    """It is lost, so that it is not recovered."""
    assert besides(report(LOST), 0) == ["the same run breaks recoverable"]


def test_more_of_the_same_says_nothing_new(report):
    """Nor does a run in which all went well."""
    assert besides(report(TWICE, ONCE, TWICE), 0, [EFFECTIVELY_ONCE]) == []


def test_what_did_not_repeat_is_left_out(report):
    """It is not certain."""
    second = report(TWICE, LOST).outcomes[1].interleaving.number
    unsteady = {"effectively-once": {second: "broke it once"}}

    found = report(TWICE, LOST, unsteady=unsteady)

    assert besides(found, 0, [EFFECTIVELY_ONCE]) == []
