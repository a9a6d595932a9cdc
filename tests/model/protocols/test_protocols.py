"""The library's protocols come out as their papers, and their variants, say."""

from __future__ import annotations

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.model.search.limits import Limits
from onceproof.model.traces import follow
from onceproof.properties.judges.by_search import check

HOLDS, BREAKS, NEVER = "exhausted", "refuted", "vacuous"

EXPECTED = [
    ("chandy-lamport", {}, {"conserves": HOLDS, "is-a-consistent-cut": HOLDS}),
    ("chandy-lamport", {"P": "3"}, {"conserves": HOLDS, "is-a-consistent-cut": HOLDS}),
    ("chandy-lamport", {"S": "2"}, {"conserves": HOLDS, "completes": HOLDS}),
    (
        "chandy-lamport-unordered",
        {},
        {"conserves": BREAKS, "is-a-consistent-cut": BREAKS},
    ),
    (
        "chandy-lamport-without-channels",
        {},
        {"conserves": BREAKS, "catches-a-coin-on-its-way": NEVER},
    ),
    (
        "two-phase-commit-log",
        {},
        {
            "agreement": HOLDS,
            "valid": HOLDS,
            "keeps-its-decision": HOLDS,
            "is-decided": HOLDS,
            "commits-after-a-crash": HOLDS,
        },
    ),
    ("two-phase-commit-log", {"faults": "2"}, {"agreement": HOLDS}),
    (
        "two-phase-commit-log-blocked",
        {},
        {"agreement": HOLDS, "is-decided": BREAKS},
    ),
]


@pytest.mark.parametrize(("name", "settings", "expected"), EXPECTED)
def test_each_protocol_is_judged_as_it_must_be(name, settings, expected):
    """Claims hold, break, or have no witness; what is shown can be followed."""
    protocol = make(name, settings)

    report = check(protocol)

    found = {n: str(report.verdicts[n]) for n in expected}
    reference = Interpreter(protocol)
    traces = [f.trace for f in report.findings if f.trace is not None]
    followed = [follow(reference, t.start, t.events).states for t in traces]
    assert found == expected
    assert followed == [t.states for t in traces]


def test_a_participant_in_doubt_waits_for_ever_when_the_coordinator_is_gone():
    """The lasso ends with a vote that nobody will ever answer."""
    protocol = make("two-phase-commit-log-blocked", {})

    report = check(protocol)

    lasso = next(f.trace for f in report.findings if f.property.name == "is-decided")
    last = Interpreter(protocol).look(lasso.states[-1])
    assert lasso.loop is not None
    assert last.coordinator.alive.value == "stopped"
    assert "prepared" in {last.log[r].value for r in range(2)}


def test_claims_about_runs_are_undecided_where_the_search_stops_early():
    """Without the whole graph, nothing is said of what happens at last."""
    report = check(make("two-phase-commit-log", {}), limits=Limits(states=100))

    assert str(report.verdicts["is-decided"]) == "undecided"
