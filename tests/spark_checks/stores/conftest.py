"""Stores that start for the tests, and are ended by them."""

from __future__ import annotations

import pytest

from onceproof.spark_checks import Kafka, Postgres
from onceproof.spark_checks.session.store_pool import StorePool
from tests.spark_checks.stores.needed import needs


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


@pytest.fixture(scope="session")
def kafka():
    """Give the description of a broker that this machine can start."""
    return needs(Kafka())


@pytest.fixture(scope="session")
def broker(kafka):
    """Start a broker."""
    stores = StorePool()
    yield stores.running(kafka)
    stores.close()
