"""The order of tests: what starts Spark comes first, for it takes long."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def pool():
    """Give all tests of a process one warm Spark session: its start takes long."""
    from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
    from onceproof.spark_checks.session.session_pool import SessionPool

    made = SessionPool(ENTRY_POINTS)
    with made.session(attempts=2, partitions=2):
        pass
    yield made
    made.close()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
