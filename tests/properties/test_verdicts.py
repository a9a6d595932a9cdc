"""What verdicts are worth, together and as an exit status."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.properties.verdicts import Verdict, exit_status, weakest

HOLDING = [verdict for verdict in Verdict if verdict.holds]
OTHERS = [verdict for verdict in Verdict if not verdict.holds]


def test_what_does_not_hold_outweighs_whatever_does():
    """A clause that is open, or says nothing, is not hidden by one that holds."""
    for one, other in itertools.product(OTHERS, HOLDING):
        assert weakest([one, other]) is weakest([other, one]) is one


def test_a_refutation_outweighs_everything_and_openness_all_but_that():
    """Refuted comes before undecided, and that before vacuous."""
    assert weakest(Verdict) is Verdict.REFUTED
    assert weakest([Verdict.VACUOUS, Verdict.UNDECIDED]) is Verdict.UNDECIDED
    assert weakest(HOLDING) is Verdict.HELD
    assert weakest([]) is Verdict.VACUOUS


@pytest.mark.parametrize("verdict", list(Verdict))
def test_the_exit_status_is_0_only_if_all_hold(verdict):
    """One refuted is 1; else one that does not hold is 2, and nothing judged too."""
    expected = 0 if verdict.holds else 1 if verdict is Verdict.REFUTED else 2

    assert exit_status([verdict]) == expected
    assert exit_status([Verdict.PROVED, verdict, Verdict.EXHAUSTED]) == expected
    assert exit_status([Verdict.UNDECIDED, verdict]) == (expected or 2)
    assert exit_status([]) == 2


WEAK = ("refuted", "undecided", "vacuous", "held", "bounded", "exhausted", "proved")


@given(st.lists(st.sampled_from(WEAK), max_size=4))
def test_the_weakest_verdict_counts_and_the_exit_status_follows(reported):
    """Nothing is better than its weakest part, and nothing at all is vacuous."""
    verdicts = [Verdict(v) for v in reported]

    expected = min(reported, key=WEAK.index, default="vacuous")
    assert weakest(verdicts) == expected
    status = (
        1
        if "refuted" in reported
        else 2
        if {"undecided", "vacuous"} & {*reported}
        else 0
    )
    assert exit_status(verdicts) == (status if reported else 2)
