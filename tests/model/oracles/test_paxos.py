"""Paxos has the states that Paxos.tla of tlaplus/Examples is known to have."""

from __future__ import annotations

import pytest

from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.oracles.exported import checked_by_tlc
from tests.model.oracles.paxos import ForgetfulPaxos, Paxos

DISTINCT = {2: 3_921, 3: 185_369}
"""The distinct states of three acceptors and two values, by the number of ballots."""


@pytest.mark.parametrize(("ballots", "distinct"), DISTINCT.items())
def test_the_search_finds_as_many_states(ballots, distinct):
    """And that no two values are chosen, while one may be."""
    report = check(Paxos(BALLOT=ballots))

    assert report.exploration.distinct == distinct
    assert set(report.verdicts.values()) == {Verdict.EXHAUSTED}


def test_acceptors_and_values_are_interchangeable():
    """Symmetry renames the values that acceptors hold, to the same verdicts."""
    report = check(Paxos(BALLOT=3), symmetry=True)

    assert DISTINCT[3] / 12 <= report.exploration.distinct < DISTINCT[3] / 10
    assert set(report.verdicts.values()) == {Verdict.EXHAUSTED}


@pytest.mark.parametrize("symmetry", [False, True])
def test_a_leader_that_forgets_votes_lets_two_values_be_chosen(symmetry):
    """The guard of phase 2a is what agreement rests on."""
    report = check(ForgetfulPaxos(), symmetry=symmetry)

    assert report.verdicts["agreement"] is Verdict.REFUTED


@pytest.mark.tlc
def test_tlc_finds_as_many_in_what_is_exported(tmp_path):
    """The module that is written has the published number of states, too."""
    told = checked_by_tlc(Paxos(), tmp_path)

    assert told.answer == "holds", told.output[-2000:]
    assert told.distinct == DISTINCT[2]
    assert told.depth == check(Paxos()).exploration.depth
