"""What a source should show is computed once for all sinks that show its events."""

from __future__ import annotations

import pytest

from onceproof.spark_checks.replay import observations
from onceproof.spark_checks.replay.observations import Observers


@pytest.fixture
def computed(monkeypatch):
    """List the results that observers are computed for."""
    asked = []

    def compute(spark, source, result, readers):
        asked.append((result, *filter(None, readers)))
        return object()

    monkeypatch.setattr(observations, "_observer_of", compute)
    return asked


def test_sinks_of_events_share_an_observer(computed):
    """It is the same whatever sink they go into."""
    observers = Observers("spark", "source")

    assert observers.of(None) is observers.of(None)
    assert computed == [(None,)]


def test_sinks_of_the_same_readers_share_an_observer(computed):
    """Each event must be seen by each of them."""
    observers = Observers("spark", "source")
    two = ("orders", "events")

    assert observers.of(None, two) is observers.of(None, two) is not observers.of(None)
    assert computed == [(None, *two), (None,)]


def test_each_result_has_an_observer_of_its_own(computed):
    """Two sinks may show different results of the same events."""
    observers = Observers("spark", "source")
    total, count = "total", "count"

    found = [observers.of(one) for one in (total, None, count, None)]

    assert computed == [(total,), (None,), (count,)]
    assert len(set(found)) == 3
