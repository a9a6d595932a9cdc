"""Connections to a real Kafka broker break: clients send again by themselves."""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from pathlib import Path

import pytest

from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import Unreliable
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.plan.rules import CUTS, LATE_REQUEST, LOSE_REPLY
from onceproof.spark_checks.replay.cleanup import CleanupWarning
from onceproof.spark_checks.report.assessment import AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest
from onceproof.spark_checks.stores.links import Cut
from onceproof.spark_checks.stores.proxy import Proxy
from tests.spark_checks.stores.kafka import kafka_sinks as sinks
from tests.spark_checks.stores.test_framed_passing import Deciding

PRODUCE = "Produce to partition 0"


@pytest.fixture
def topic(broker):
    """Give a fresh topic."""
    place = broker.place(f"onceproof_lost_{threading.get_ident()}")
    yield place
    broker.drop(place)


def produced(place, cut, **settings):
    """Let a client write three records, while a request of it is cut."""
    from confluent_kafka import Producer

    from onceproof.spark_checks.stores.kafka.client import quietly

    deciding = Deciding(PRODUCE, cut)
    proxy = Proxy(place.addresses, deciding, framing=place.framing)
    try:
        moved = place.through(proxy.port)
        producer = Producer({**quietly(moved.client), **settings})
        for value in ("a", "b", "c"):
            producer.produce(place.topic, value, partition=0)
        assert producer.flush(20) == 0
        if cut is Cut.LATE:
            deciding.over.set()
            assert deciding.arrived_in(20)
    finally:
        proxy.close()
    assert deciding.breaks == 1
    return Counter(record.value for record in place.records())


@pytest.mark.parametrize(
    ("cut", "idempotence", "times"),
    [
        (Cut.REPLY, False, 2),
        (Cut.REPLY, True, 1),
        pytest.param(Cut.REQUEST, False, 1, marks=pytest.mark.ci),
        pytest.param(Cut.REQUEST, True, 1, marks=pytest.mark.ci),
        pytest.param(Cut.LATE, False, 2, marks=pytest.mark.ci),
        pytest.param(Cut.LATE, True, 1, marks=pytest.mark.ci),
    ],
)
def test_a_client_that_sends_again_writes_twice_without_idempotence(
    topic, cut, idempotence, times
):
    """It does not know whether the broker has what was not answered."""
    found = produced(topic, cut, **{"enable.idempotence": idempotence})

    assert found == {b"a": times, b"b": times, b"c": times}


@pytest.fixture
def judged(pool, tmp_path, kafka):
    """Judge a sink on brokers to which connections break."""

    def ask(build, store=kafka, most=4):
        test = RequestingTest("", ("id",), (), (EFFECTIVELY_ONCE,), ())
        request = AssessmentRequest(
            Path(__file__).parent,
            tmp_path,
            events=sinks.SCHEMA,
            test=test,
            choice=Choice(most=most),
            batches=1,
            store=Unreliable(store),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error", CleanupWarning)
            return judge(build, request, pool=pool)

    yield ask
    assert not [t for t in threading.enumerate() if t.name == "onceproof-proxy"]


def broken_by(found):
    """Name the cuts after which readers do not see each event once; and all cuts."""
    cuts, broken = set(), set()
    for outcome in found.report.replayed:
        for hit in outcome.hits:
            if hit.do in CUTS:
                cuts.add(hit.do)
                if set(outcome.spark.seen(len(outcome.spark.moments) - 1)) != {1}:
                    broken.add(hit.do)
    return broken, cuts


@pytest.mark.spark
@pytest.mark.ci
@pytest.mark.parametrize(
    ("build", "verdict", "broken"),
    [
        pytest.param(
            sinks.resent_plainly,
            Verdict.REFUTED,
            {LOSE_REPLY, LATE_REQUEST},
            marks=pytest.mark.grid,
        ),
        pytest.param(
            sinks.resent_with_idempotence,
            Verdict.REFUTED,
            set(),
            marks=pytest.mark.grid,
        ),
        pytest.param(sinks.transactional, Verdict.HELD, set(), marks=pytest.mark.grid),
    ],
)
def test_what_a_client_sends_again_is_seen_by_readers(judged, build, verdict, broken):
    """A crash refutes both producers; a lost reply only that without idempotence."""
    found = judged(build)

    assert found.verdict is verdict, found.headline
    assert broken_by(found) == (broken, set(CUTS))
    places = found.report.sink.exchanges.places
    assert any("Produce to partition 0" in place for place in places)


@pytest.mark.spark
@pytest.mark.ci
@pytest.mark.parametrize(
    ("build", "broken"),
    [
        pytest.param(
            sinks.resent_by_spark, {LOSE_REPLY, LATE_REQUEST}, marks=pytest.mark.grid
        ),
        pytest.param(
            sinks.resent_by_spark_with_idempotence, set(), marks=pytest.mark.grid
        ),
        (sinks.resent_in_a_stream, {LOSE_REPLY, LATE_REQUEST}),
        pytest.param(
            sinks.resent_in_a_stream_with_idempotence, set(), marks=pytest.mark.grid
        ),
    ],
)
def test_what_the_client_in_spark_sends_again_is_seen_by_readers(judged, build, broken):
    """A crash refutes both, and a lost reply the one without idempotence."""
    found = judged(build)

    # On a busy machine Spark's client asks for metadata once more in one run than in
    # another. What differs is left out, and said; what refutes the sink is not.
    left_out = set(found.report.sink.exchanges.not_cut)
    assert left_out <= {"whose number differs from run to run"}
    assert found.verdict is Verdict.REFUTED, found.headline
    assert broken_by(found) == (broken, set(CUTS))
    places = found.report.sink.exchanges.places
    assert any("Produce to partition 0" in place for place in places)
    assert all(place.endswith(", by Spark's client") for place in places)
