"""Runs share the way to some stores, so that one goes at a time."""

from __future__ import annotations

import pytest

from onceproof.spark_checks import S3, Postgres, Together, Unreliable
from onceproof.spark_checks.stores.layered import one_at_a_time

OWN = S3("http://127.0.0.1:1", bucket="tests", access_key="me", secret_key="secret")


@pytest.mark.parametrize(
    ("store", "alone"),
    [
        (Unreliable(OWN), True),
        (Together(files=Unreliable(OWN), orders=Postgres()), True),
        (OWN, False),
        (Together(files=OWN, orders=Unreliable(Postgres())), False),
        (Unreliable(S3()), False),
        (Unreliable(Postgres()), False),
        (None, False),
    ],
)
def test_one_run_goes_at_a_time_where_a_bucket_of_ones_own_breaks(store, alone):
    """Spark has one file system for it. Whoever breaks nothing redirects none."""
    assert one_at_a_time(store) is alone
