"""What a machine needs for a store, or why its tests are skipped."""

from __future__ import annotations

import os

import pytest

from onceproof.spark_checks.stores.jars.connectors import connector
from onceproof.spark_checks.stores.tables.connector_store import ConnectorStore

REQUIRED = "ONCEPROOF_STORES"


def needs(store):
    """Skip where a machine lacks something; fail where all stores are required.

    What was never made for the PySpark that is installed is not required.
    """
    missing = store.missing()
    made = not isinstance(store, ConnectorStore) or connector(store.name)
    if missing and made and os.environ.get(REQUIRED) == "required":
        pytest.fail(f"{REQUIRED} says that stores are required: {'; '.join(missing)}")
    if missing:
        pytest.skip("; ".join(missing))
    return store
