"""Sinks that write to a real Kafka broker are judged by what consumers get there."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from onceproof.model.errors import UsageError
from onceproof.properties.guarantees import EFFECTIVELY_ONCE, RECOVERABLE
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.replay.cleanup import CleanupWarning
from onceproof.spark_checks.report.assessment import AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest
from tests.spark_checks.stores.kafka import kafka_sinks as sinks

pytestmark = pytest.mark.spark


@pytest.fixture
def judged(pool, tmp_path, kafka):
    """Judge a sink on a broker, of which no topic may stay."""

    def ask(build, most):
        claims = (EFFECTIVELY_ONCE, RECOVERABLE)
        request = AssessmentRequest(
            Path(__file__).parent,
            tmp_path,
            events=sinks.SCHEMA,
            test=RequestingTest("", ("id",), (), claims, ()),
            choice=Choice(most=most),
            store=kafka,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error", CleanupWarning)
            return judge(build, request, pool=pool)

    return ask


def topics(store):
    """List the topics of runs."""
    from confluent_kafka.admin import AdminClient

    found = AdminClient(dict(store._client)).list_topics(timeout=10).topics
    return {name for name in found if name.startswith("onceproof_")}


@pytest.mark.parametrize(
    ("build", "verdict"),
    [
        pytest.param(sinks.by_spark_in_a_stream, "refuted", marks=pytest.mark.grid),
        pytest.param(sinks.by_spark_in_batches, "refuted", marks=pytest.mark.grid),
        pytest.param(sinks.in_two_transactions, "refuted", marks=pytest.mark.grid),
        pytest.param(sinks.transactional, "held", marks=pytest.mark.grid),
    ],
)
def test_a_sink_is_judged_by_what_it_does(judged, pool, kafka, build, verdict):
    """By Spark and by a client of its own, right and wrong; every topic is dropped."""
    found = judged(build, 12)

    assert str(found.verdict) == verdict, found.headline
    assert topics(pool.stores.running(kafka)) == set()


@pytest.mark.grid
def test_brokers_that_are_not_allowed_are_not_written_to(judged):
    """Nothing is sent there."""
    with pytest.raises(UsageError, match=r"prod\.example\.com:9092"):
        judged(sinks.on_other_brokers, 2)
