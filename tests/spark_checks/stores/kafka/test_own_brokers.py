"""Connections to several brokers of a user's own break, with TLS and with passwords."""

from __future__ import annotations

import uuid
from contextlib import contextmanager

import pytest

from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import Kafka, Unreliable
from onceproof.spark_checks.plan.rules import LOSE_REPLY
from onceproof.spark_checks.session.store_pool import StorePool
from onceproof.spark_checks.stores.links import Cut
from onceproof.spark_checks.stores.proxy import Proxy
from tests.spark_checks.stores.kafka import kafka_sinks as sinks
from tests.spark_checks.stores.kafka.own_brokers import own_brokers
from tests.spark_checks.stores.kafka.test_lost_replies_on_kafka import (
    PRODUCE,
    broken_by,
    judged,
    produced,
)
from tests.spark_checks.stores.test_framed_passing import Deciding

pytestmark = pytest.mark.ci
__all__ = ["judged"]

PASSWORD = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "shop",
    "sasl.password": "s3cret",
}


@pytest.fixture(scope="module")
def brokers(kafka, tmp_path_factory):
    """Start two brokers, which only their jars are needed for."""
    with own_brokers(tmp_path_factory.mktemp("brokers")) as found:
        yield found


@pytest.fixture(scope="module", params=["PLAINTEXT", "SSL", "SASL_SSL"])
def own(request, brokers):
    """Give the description of a user's brokers."""
    servers, tls = brokers
    settings = {} if request.param == "PLAINTEXT" else tls
    if request.param == "SASL_SSL":
        settings = tls | PASSWORD
    return Kafka(servers[request.param], settings)


@contextmanager
def topic(store):
    """Give a fresh topic on brokers."""
    stores = StorePool()
    running = stores.running(store)
    place = running.place(f"onceproof_{uuid.uuid4().hex}")
    try:
        yield place
        running.drop(place)
    finally:
        stores.close()


@pytest.mark.parametrize(("idempotence", "times"), [(False, 2), (True, 1)])
def test_a_lost_reply_of_ones_own_brokers_is_sent_again(own, idempotence, times):
    """As with the broker that is started: only the way there differs."""
    with topic(own) as place:
        found = produced(place, Cut.REPLY, **{"enable.idempotence": idempotence})

    assert Unreliable(own).itself == own
    assert found == {b"a": times, b"b": times, b"c": times}


def test_requests_to_every_broker_pass_the_proxy(own):
    """Each of the two leads one of the topic's partitions; both are cut in turn."""
    from confluent_kafka import Producer

    with topic(own) as place:
        deciding = Deciding(PRODUCE, Cut.NOTHING)
        proxy = Proxy(place.addresses, deciding, framing=place.framing)
        try:
            client = dict(place.through(proxy.port).client)
            producer = Producer(client)
            for partition in (0, 1):
                producer.produce(place.topic, "a", partition=partition)
            assert producer.flush(20) == 0
            known = producer.list_topics(timeout=20).brokers.values()
        finally:
            proxy.close()
        found = sorted(record.partition for record in place.records())

    assert found == [0, 1]
    assert {PRODUCE, "Produce to partition 1"} <= set(deciding.asked)
    assert len({broker.port for broker in known}) == 2
    assert {broker.host for broker in known} == {"127.0.0.1"}


@pytest.mark.spark
@pytest.mark.grid
def test_a_sink_on_brokers_with_tls_and_a_password_is_judged(judged, brokers):
    """Its connections come from processes of the session, and are broken there."""
    servers, tls = brokers

    found = judged(sinks.resent_plainly, Kafka(servers["SASL_SSL"], tls | PASSWORD), 2)

    assert found.verdict is Verdict.REFUTED, found.headline
    assert LOSE_REPLY in broken_by(found)[0]
