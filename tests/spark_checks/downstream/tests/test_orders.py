"""Do orders take effect once, whatever fails?"""

from __future__ import annotations

import orders
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.properties.testing.strategies import on_spark, replays

ORDER = st.fixed_dictionaries(
    {"order_id": st.uuids().map(str), "amount": st.integers(1, 99)}
)


@pytest.mark.effectively_once(key="order_id", batches=1)
@pytest.mark.parametrize("sink", [orders.upsert, orders.append, orders.own_format])
def test_orders_take_effect_once(onceproof_replay, onceproof_spark, sink):
    """Every order is there once, of a sample."""
    sample = onceproof_spark.range(8).selectExpr(
        "'nr' || id AS order_id", "id AS amount"
    )

    onceproof_replay(sink, events=sample)


@on_spark
@given(case=replays(ORDER, key="order_id", batches=(1, 1), most_rows=3))
@pytest.mark.effectively_once(key="order_id")
def test_any_orders_take_effect_once(onceproof_replay, case):
    """Whatever the orders are."""
    onceproof_replay(orders.each_order, case=case, schema=orders.SCHEMA)
