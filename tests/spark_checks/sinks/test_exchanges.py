"""Exchanges that are not cut are unknown, unless nothing can depend on them."""

from __future__ import annotations

import pytest

from onceproof.spark_checks.sinks import exchanges
from onceproof.spark_checks.sinks.exchanges import Exchange, SeenExchanges


@pytest.mark.parametrize(
    "reason",
    [
        exchanges.UNSTEADY,
        exchanges.THREADS,
        exchanges.UNANSWERED,
        exchanges.BEYOND,
        exchanges.PAST,
        exchanges.ELSEWHERE,
        exchanges.READS,
    ],
)
def test_what_a_sink_may_depend_on_is_unknown(reason):
    """Also what only reads: code may heed what it reads."""
    assert SeenExchanges(not_cut={reason: 3}).unknown == 3


def test_exchanges_that_no_fault_of_the_model_cuts_are_unknown():
    """Whatever is left out of a replay: their number is kept, and no place."""
    one = Exchange("a step", 1, 1, 1, 1)
    seen = SeenExchanges({0: (one, one)}, {(0, 1): (one,)}, {exchanges.ELSEWHERE: 2})

    found = seen.without_cuts()

    assert found.not_cut == {exchanges.ELSEWHERE: 5}
    assert (found.places, found.unknown) == (frozenset(), 5)
