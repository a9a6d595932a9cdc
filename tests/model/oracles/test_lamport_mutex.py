"""Lamport's mutual exclusion has the states that tlaplus/Examples publishes."""

from __future__ import annotations

import pytest

from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.oracles.exported import checked_by_tlc
from tests.model.oracles.lamport_mutex import HastyMutex, LamportMutex

DISTINCT, DEPTH = 724_274, 61
"""Three processes whose clocks go to 6; TLC counts the states along the way."""


def test_the_search_finds_as_many_states_as_deep():
    """Messages are records, and what is between two processes is a sequence."""
    report = check(LamportMutex())

    assert report.exploration.distinct == DISTINCT
    assert report.exploration.steps == DEPTH - 1
    assert set(report.verdicts.values()) == {Verdict.EXHAUSTED}


def test_who_does_not_wait_for_others_is_not_alone():
    """What excludes is that each has heard from all."""
    report = check(HastyMutex(P=2, most=3))

    assert report.verdicts["excludes"] is Verdict.REFUTED


@pytest.mark.tlc
def test_tlc_finds_as_many_in_what_is_exported(tmp_path):
    """At clocks to 2."""
    protocol = LamportMutex(most=2)

    answered = checked_by_tlc(protocol, tmp_path)

    found = check(protocol).exploration
    assert answered.answer == "holds", answered.output[-2000:]
    assert (answered.distinct, answered.depth) == (found.distinct, found.steps + 1)
