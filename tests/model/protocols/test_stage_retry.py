"""Recomputed output mixes with what was read before, unless it is the same."""

from __future__ import annotations

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.model.traces import follow
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.zoo.entry import steps

REORDERED = """
    deal(0, 0)  deal(1, 1)  reduce(0)  lose_executor()!  deal(1, 0)  deal(0, 1)
    reduce(1)  finish()
"""


def test_a_row_is_there_twice_and_another_one_is_lost():
    """SPARK-23207: the first reducer keeps what it has read before the loss."""
    reference = Interpreter(make("stage-retry", {"order": "arrival-order"}))
    start = next(iter(reference.initial_states()))

    end = reference.look(follow(reference, start, steps(REORDERED)).states[-1])

    assert (end.visible(0), end.visible(1)) == (2, 0)


@pytest.mark.ci
@pytest.mark.parametrize(
    "settings",
    [{}, {"order": "arrival-order", "retry": "all-reducers"}],
    ids=["sorted rows", "all reducers run again"],
)
def test_either_fix_holds_with_more_rows_and_faults(settings):
    """Three rows, three reducers, and two losses."""
    more = {"ROW": "3", "REDUCER": "3", "faults": "2"}

    verdicts = check(make("stage-retry", settings | more)).verdicts

    assert set(verdicts.values()) == {Verdict.EXHAUSTED}
