"""Raft elects one leader a term, and TLC finds as many states of it."""

from __future__ import annotations

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.protocols.raft_election import (
    RaftElection,
    RaftElectionForgetful,
)
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.oracles.exported import checked_by_tlc

DISTINCT = 122_642
"""Three servers, two terms after the first, and one restart."""


def test_each_claim_holds_and_no_action_is_left_out():
    """With and without symmetry: the search reaches what the claims are about."""
    plain, symmetric = check(RaftElection()), check(RaftElection(), symmetry=True)

    assert plain.exploration.distinct == DISTINCT
    assert DISTINCT / 6 <= symmetric.exploration.distinct < DISTINCT / 5
    assert set(plain.verdicts.values()) == {Verdict.EXHAUSTED}
    assert set(symmetric.verdicts.values()) == {Verdict.EXHAUSTED}
    assert not plain.run.never_taken


def test_a_vote_that_is_forgotten_elects_two_leaders():
    """The shortest run has one restart, after the server has voted."""
    protocol = RaftElectionForgetful()
    report = check(protocol)

    assert report.verdicts["elects-one-leader-a-term"] is Verdict.REFUTED
    finding = next(f for f in report.findings if f.verdict is Verdict.REFUTED)
    faults = [e.name for e in finding.trace.events if e.fault]
    last = Interpreter(protocol).look(finding.trace.states[-1])
    assert faults == ["restart"]
    assert sum(last.elected[s, 1] for s in range(3)) == 2


@pytest.mark.tlc
def test_tlc_finds_as_many_in_what_is_exported(tmp_path):
    """At the size that the library judges it at."""
    answered = checked_by_tlc(RaftElection(), tmp_path)

    assert answered.answer == "holds", answered.output[-2000:]
    assert answered.distinct == DISTINCT
    assert answered.depth == check(RaftElection()).exploration.steps + 1
