"""Sinks that write to a real PostgreSQL server are judged by what readers see there."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from onceproof.properties.guarantees import EFFECTIVELY_ONCE, RECOVERABLE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.replay.cleanup import CleanupWarning
from onceproof.spark_checks.report.assessment import AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest
from tests.spark_checks.stores import postgres_sinks as sinks
from tests.spark_checks.stores.test_postgres import schemas

pytestmark = pytest.mark.spark

SCHEMA = "id string, amount long"


@pytest.fixture
def judged(pool, tmp_path, postgres):
    def ask(build, **words):
        claims = (EFFECTIVELY_ONCE, RECOVERABLE)
        test = RequestingTest("", ("id",), (), claims, ())
        choice = Choice(most=words.pop("most", 6))
        request = AssessmentRequest(
            Path(__file__).parent,
            tmp_path,
            events=SCHEMA,
            test=test,
            choice=choice,
            store=postgres,
            **words,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error", CleanupWarning)
            return judge(build, request, pool=pool)

    return ask


def test_an_insert_is_refuted_and_leaves_no_schema(judged, pool, postgres):
    """A batch that is given again is inserted again; every place is dropped."""
    found = judged(sinks.insert, stop=True)

    assert found.verdict is Verdict.REFUTED
    assert "twice" in found.headline
    assert schemas(pool.stores.running(postgres)) == set()


@pytest.mark.ci
@pytest.mark.parametrize(
    ("build", "verdict"),
    [
        (sinks.upsert, "held"),
        (sinks.ledger, "held"),
        (sinks.ledger_apart, "refuted"),
        (sinks.upsert_in_tasks, "held"),
        (sinks.leaves_transactions_open, "held"),
        (sinks.makes_its_table, "held"),
    ],
)
def test_a_sink_is_judged_by_what_it_does(judged, pool, postgres, build, verdict):
    """Right ones and wrong ones, in the callback and in tasks."""
    found = judged(build, most=12)

    assert str(found.verdict) == verdict, found.headline
    assert schemas(pool.stores.running(postgres)) == set()
