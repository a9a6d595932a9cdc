"""Does each payment take effect once, in the stores that the shop uses?"""

from __future__ import annotations

import payments
import pytest

from onceproof.spark_checks import Delta, Postgres


@pytest.mark.effectively_once(key="payment_id", batches=1)
@pytest.mark.parametrize("sink", [payments.inserted, payments.inserted_by_key])
def test_payments_in_postgres(onceproof_replay, sink):
    """On a real server."""
    onceproof_replay(sink, events=payments.EVENT, store=Postgres())


@pytest.mark.effectively_once(key="payment_id", batches=1)
@pytest.mark.parametrize("sink", [payments.added, payments.added_by_number])
def test_payments_in_delta(onceproof_replay, sink):
    """In tables that Spark writes; one of the sinks is known to be wrong."""
    onceproof_replay(sink, events=payments.EVENT, store=Delta())
