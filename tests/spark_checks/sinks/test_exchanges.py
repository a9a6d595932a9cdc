"""Exchanges that are not cut are unknown, unless nothing can depend on them."""

from __future__ import annotations

import pytest

from onceproof.spark_checks.sinks import exchanges
from onceproof.spark_checks.sinks.exchanges import SeenExchanges


@pytest.mark.parametrize(
    "reason",
    [
        exchanges.UNSTEADY,
        exchanges.THREADS,
        exchanges.UNANSWERED,
        exchanges.BEYOND,
        exchanges.BY_HADOOP,
        exchanges.PAST,
        exchanges.ELSEWHERE,
        exchanges.READS,
    ],
)
def test_what_a_sink_may_depend_on_is_unknown(reason):
    """Also what only reads: code may heed what it reads."""
    assert SeenExchanges(not_cut={reason: 3}).unknown == 3
