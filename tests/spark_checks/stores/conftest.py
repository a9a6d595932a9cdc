"""Stores that start for the tests, and are ended by them."""

from __future__ import annotations

import os

import pytest

from onceproof.spark_checks import Postgres
from onceproof.spark_checks.session.store_pool import StorePool

REQUIRED = "ONCEPROOF_STORES"


def needs(store):
    """Skip where a machine lacks something; fail where all stores are required."""
    missing = store.missing()
    if missing and os.environ.get(REQUIRED) == "required":
        pytest.fail(f"{REQUIRED} says that stores are required: {'; '.join(missing)}")
    if missing:
        pytest.skip("; ".join(missing))
    return store


@pytest.fixture(scope="session")
def postgres():
    """Give the description of a server that this machine can start."""
    return needs(Postgres())


@pytest.fixture(scope="session")
def server(postgres):
    """Start a server."""
    stores = StorePool()
    yield stores.running(postgres)
    stores.close()
