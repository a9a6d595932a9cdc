"""Sinks that write to a real PostgreSQL server are judged by what readers see there."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from onceproof.model.errors import UsageError
from onceproof.properties.guarantees import EFFECTIVELY_ONCE, RECOVERABLE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.replay.cleanup import CleanupWarning
from onceproof.spark_checks.report.assessment import AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest
from tests.spark_checks.stores.postgres import postgres_sinks as sinks
from tests.spark_checks.stores.postgres.test_postgres import schemas

pytestmark = pytest.mark.spark

SCHEMA = "id string, amount long"


@pytest.fixture
def judged(pool, tmp_path, postgres):
    def ask(build, **words):
        claims = (EFFECTIVELY_ONCE, RECOVERABLE)
        test = RequestingTest("", words.pop("key", ("id",)), (), claims, ())
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


@pytest.mark.ci
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
        pytest.param(sinks.upsert, "held", marks=pytest.mark.grid),
        pytest.param(sinks.ledger, "held", marks=pytest.mark.grid),
        pytest.param(sinks.ledger_apart, "refuted", marks=pytest.mark.grid),
        pytest.param(sinks.upsert_in_tasks, "held", marks=pytest.mark.grid),
        (sinks.leaves_transactions_open, "held"),
        pytest.param(sinks.makes_its_table, "held", marks=pytest.mark.grid),
    ],
)
def test_a_sink_is_judged_by_what_it_does(judged, pool, postgres, build, verdict):
    """Right ones and wrong ones, in the callback and in tasks."""
    found = judged(build, most=12)

    assert str(found.verdict) == verdict, found.headline
    assert schemas(pool.stores.running(postgres)) == set()


@pytest.mark.parametrize("again", [False, True])
def test_a_sink_that_is_not_alone_with_its_data_is_refused(
    judged, pool, postgres, again
):
    """Else what one run loses is there from another: of this replay, or before it."""
    import psycopg

    url = pool.stores.running(postgres)._url
    if not again:
        with psycopg.connect(url) as db:
            db.execute("DROP SCHEMA IF EXISTS onceproof_of_all CASCADE")

    with pytest.raises(UsageError, match="is not alone with its data: readers of a"):
        judged(sinks.in_a_schema_of_all)

    if again:
        with psycopg.connect(url) as db:
            db.execute("DROP SCHEMA onceproof_of_all CASCADE")


@pytest.mark.ci
@pytest.mark.parametrize(
    ("build", "verdict"),
    [
        pytest.param(sinks.transfers, "held", marks=pytest.mark.grid),
        pytest.param(sinks.transfers_that_lose, "refuted", marks=pytest.mark.grid),
    ],
)
def test_what_is_there_from_the_start_belongs_to_the_result(judged, build, verdict):
    """Balances that open with 5000 may be seen before the first batch."""
    assert str(judged(build, key=()).verdict) == verdict


def test_what_is_there_from_the_start_and_not_in_the_result_is_refused(judged):
    """With an example, and what to write."""
    with pytest.raises(UsageError, match=r"before any batch.* let result= give them"):
        judged(sinks.transfers_from_nothing, key=())


def test_a_test_without_a_store_says_so(pool, tmp_path):
    """Whoever asks for a place in it is told what to write."""
    test = RequestingTest("", ("id",), (), (EFFECTIVELY_ONCE,), ())
    request = AssessmentRequest(
        Path(__file__).parent, tmp_path, events=SCHEMA, test=test
    )

    with pytest.raises(UsageError, match=r"target\.store\.url is asked for, and the"):
        judge(sinks.insert, request, pool=pool)
