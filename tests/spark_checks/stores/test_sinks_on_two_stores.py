"""Sinks of users that write to two stores are judged by what readers see in both."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.properties.guarantees import EFFECTIVELY_ONCE, RECOVERABLE
from onceproof.spark_checks import DuckDB, Postgres, Together, Unreliable
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.report.assessment import AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest
from tests.spark_checks.stores import two_store_sinks as sinks
from tests.spark_checks.stores.needed import needs
from tests.spark_checks.stores.postgres.test_postgres import schemas

pytestmark = [pytest.mark.spark, pytest.mark.grid]


@pytest.fixture
def judged(pool, tmp_path):
    def ask(build, store, **words):
        needs(store)
        claims = (EFFECTIVELY_ONCE, RECOVERABLE)
        request = AssessmentRequest(
            Path(__file__).parent,
            tmp_path,
            events=sinks.SCHEMA,
            test=RequestingTest("", ("id",), (), claims, ()),
            choice=Choice(most=6),
            store=store,
            **words,
        )
        return judge(build, request, pool=pool)

    return ask


@pytest.mark.parametrize(
    ("build", "verdict", "words"),
    [
        (sinks.by_key, "held", ""),
        (sinks.without_key, "refuted", "effects twice"),
        (sinks.skips, "refuted", "effects not at all"),
    ],
)
def test_each_order_is_owed_to_both_stores(judged, pool, build, verdict, words):
    """A dual write, and two ways to repeat it."""
    store = Together(orders=Postgres(), copy=DuckDB())

    found = judged(build, store, stop=verdict == "refuted")

    assert str(found.verdict) == verdict, found.headline
    assert words in found.headline
    assert schemas(pool.stores.running(Postgres())) == set()


def test_connections_to_one_of_two_stores_are_broken(judged):
    """The reply that is lost is that of the unreliable store."""
    store = Together(orders=Unreliable(Postgres()), copy=DuckDB())

    found = judged(sinks.looks_up_once, store, stop=True)

    assert str(found.verdict) == "refuted", found.headline
    assert "the reply was lost" in found.headline
