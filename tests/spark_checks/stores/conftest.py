"""Stores that start for the tests, and are ended by them."""

from __future__ import annotations

import pytest

from onceproof.spark_checks import S3, Kafka, Postgres
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


@pytest.fixture(scope="session")
def s3():
    """Give the description of a server of S3 that this machine can start."""
    return needs(S3())


@pytest.fixture(scope="session")
def buckets(s3):
    """Start a server of S3."""
    stores = StorePool()
    yield stores.running(s3)
    stores.close()
