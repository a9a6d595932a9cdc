"""What a machine needs for a store, or why its tests are skipped."""

from __future__ import annotations

import os

import pytest

REQUIRED = "ONCEPROOF_STORES"


def needs(store):
    """Skip where a machine lacks something; fail where all stores are required."""
    missing = store.missing()
    if missing and os.environ.get(REQUIRED) == "required":
        pytest.fail(f"{REQUIRED} says that stores are required: {'; '.join(missing)}")
    if missing:
        pytest.skip("; ".join(missing))
    return store
