"""A real Kafka broker: started, divided into places, cleaned up, and ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

from onceproof.spark_checks import Kafka, KafkaPlace, Unreliable
from onceproof.spark_checks.inject.hosts import pickling
from onceproof.spark_checks.session import scratch
from onceproof.spark_checks.session.store_pool import StorePool
from onceproof.spark_checks.sinks.allowed_places import allows
from onceproof.spark_checks.stores.interface import StoreError, refuse_missing
from onceproof.spark_checks.stores.jars import maven
from onceproof.spark_checks.stores.kafka import server as kafka_server
from onceproof.spark_checks.stores.layered import itself

SERVERS = {"bootstrap.servers": "k1:9092,k2:9093"}


@pytest.fixture
def place(broker):
    made = broker.place(f"onceproof_{uuid.uuid4().hex}")
    yield made
    broker.drop(made)


def producer(place, name):
    """Begin a transaction of a producer."""
    from confluent_kafka import Producer

    made = Producer({**place.client, "transactional.id": place.named(name)})
    made.init_transactions()
    made.begin_transaction()
    return made


def topics(place):
    """List the topics whose names begin as those of all runs do."""
    from confluent_kafka.admin import AdminClient

    found = AdminClient(dict(place.client)).list_topics(timeout=10).topics
    return {name for name in found if name.startswith("onceproof")}


def values(place, topic="", **isolation):
    """Read the values of a topic."""
    return sorted(record.value for record in place.records(topic, **isolation))


def alive(number):
    """Say whether a process runs."""
    return scratch.Process.of(number) is not None


def brokers_below(number):
    """List the children of a process."""
    path = Path(f"/proc/{number}/task/{number}/children")
    return [int(child) for child in path.read_text().split()]


def gone(numbers, seconds=10):
    """Wait until processes have ended."""
    ends = time.monotonic() + seconds
    while any(map(alive, numbers)) and time.monotonic() < ends:
        time.sleep(0.05)
    return not any(map(alive, numbers))


def test_a_place_is_a_topic_that_readers_see_as_far_as_it_is_committed(broker):
    """What is aborted is seen by those alone that read what is not committed."""
    place = broker.place(f"onceproof_{uuid.uuid4().hex}")
    other = broker.place(f"onceproof_{uuid.uuid4().hex}")
    ledger = place.create("ledger", partitions=3, cleanup_policy="compact")
    first = producer(place, "writer")
    first.produce(place.topic, b"a", key=b"k", partition=1)
    first.produce(ledger, b"0", key=b"0")
    first.commit_transaction()
    second = producer(place, "writer")
    second.produce(place.topic, b"b", partition=1)
    second.flush()
    while_open = values(place), values(place, isolation="read_uncommitted")
    second.abort_transaction()

    [(partition, offset, key, value)] = place.records()

    assert while_open == ([b"a"], [b"a", b"b"])
    assert (partition, offset, key, value) == (1, 0, b"k", b"a")
    assert values(place, isolation="read_uncommitted") == [b"a", b"b"]
    assert values(place, ledger) == [b"0"]
    assert values(other) == []
    assert {place.topic, ledger, other.topic} <= topics(place)
    broker.drop(place)
    assert topics(other) & {place.topic, ledger, other.topic} == {other.topic}
    broker.drop(place)
    broker.drop(other)


@pytest.mark.ci
def test_a_commit_that_is_under_way_is_waited_for(place):
    """A commit is answered before partitions know of it. What is open is not read."""
    writer = producer(place, "writer")
    writer.produce(place.topic, b"a", partition=0)
    writer.produce(place.topic, b"b", partition=1)
    writer.flush()
    while_open = values(place)
    later = threading.Timer(0.1, writer.commit_transaction)

    later.start()
    found = values(place)
    later.join()

    assert while_open == []
    assert found == [b"a", b"b"]


@pytest.mark.ci
def test_a_topic_that_is_not_there_is_named(place):
    """Nothing makes it by reading it."""
    with pytest.raises(StoreError, match=f"topic {place.topic}-lost cannot be read"):
        place.records(place.named("lost"))
    with pytest.raises(StoreError, match="isolation is read_committed or read_uncom"):
        place.records(isolation="serializable")
    place.create("twice")
    with pytest.raises(StoreError, match=r"twice cannot be created: .*already exists"):
        place.create("twice")


@pytest.mark.ci
def test_brokers_of_ones_own_are_only_connected_to(broker, place):
    """Topics are made there and dropped; groups too; all else stays."""
    from confluent_kafka import Consumer
    from confluent_kafka.admin import AdminClient

    admin = AdminClient(dict(place.client))
    stores = StorePool()
    theirs = stores.running(Kafka(place.servers, {"client.id": "shop"}))
    made = theirs.place(f"onceproof_{uuid.uuid4().hex}")
    for group in (made.named("group"), "theirs"):
        consumer = Consumer({**made.client, "group.id": group})
        consumer.subscribe([made.topic])
        while not consumer.assignment():
            consumer.poll(0.1)
        consumer.close()

    theirs.drop(made)
    stores.close()

    listed = admin.list_consumer_groups().result().valid
    groups = {group.group_id for group in listed}
    assert made.client["client.id"] == "shop"
    assert made.topic not in topics(place)
    assert place.topic in topics(place)
    assert groups & {made.named("group"), "theirs"} == {"theirs"}
    assert values(place) == []


@pytest.mark.ci
def test_a_broker_is_ended_and_leaves_nothing(kafka):
    """Its processes and its files are gone."""
    stores = StorePool()
    running = stores.running(kafka)
    assert stores.running(Kafka()) is running
    numbers = [running.process, *brokers_below(running.process)]
    folders = [
        one.folder
        for one in scratch.left()
        if running.process in {process.number for process in one.processes}
    ]
    assert len(numbers) == 2
    assert len(folders) == 1

    stores.close()

    assert not any(map(alive, numbers))
    assert not any(folder.exists() for folder in folders)


@pytest.mark.ci
@pytest.mark.parametrize("killed", ["run", "keeper"])
def test_a_broker_ends_with_its_run_however_that_ends(kafka, tmp_path, killed):
    """So it does if only the process is killed that keeps it."""
    code = (
        "import time\n"
        "from onceproof.spark_checks import Kafka\n"
        "from onceproof.spark_checks.session.store_pool import StorePool\n"
        "stores = StorePool()\n"
        "print(stores.running(Kafka()).process, flush=True)\n"
        "time.sleep(600)\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
    )
    keeper = int(run.stdout.readline())
    numbers = [keeper, *brokers_below(keeper)]
    assert len(numbers) == 2

    os.kill(run.pid if killed == "run" else keeper, signal.SIGKILL)
    ended = gone(numbers[1:])

    run.kill()
    run.wait()
    run.stdout.close()
    assert ended
    assert gone(numbers)


def test_a_broker_that_does_not_start_says_why(monkeypatch, tmp_path):
    """What Java says is in the message; every process is ended."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho no memory for $1 >&2\nexit 3\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(kafka_server, "fetched", lambda jars: ())

    with pytest.raises(StoreError, match="StorageTool fails: no memory for -Xmx256m"):
        kafka_server.start(tmp_path)


def test_a_broker_that_ends_at_once_is_not_waited_for(monkeypatch, tmp_path):
    """Another port is tried, a few times; then its last words are shown."""
    pytest.importorskip("confluent_kafka")
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(
        '#!/bin/sh\ncase "$*" in *StorageTool*) exit 0;; esac\necho taken\nexit 1\n'
    )
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(kafka_server, "fetched", lambda jars: ())
    monkeypatch.setattr(kafka_server, "_TRIES", 1)

    with pytest.raises(StoreError, match="the broker ended with status 1: taken"):
        kafka_server.start(tmp_path)


def test_brokers_that_do_not_answer_are_named_without_secrets(monkeypatch, tmp_path):
    """The sentence has their addresses."""
    pytest.importorskip("confluent_kafka")
    monkeypatch.setattr("onceproof.spark_checks.stores.kafka.store._CONNECTS", 0.3)
    store = Kafka("127.0.0.1:1", {"sasl.password": "s3cret"})

    with pytest.raises(StoreError, match=r"127\.0\.0\.1:1 do not answer") as caught:
        store.start(tmp_path)

    place = KafkaPlace("onceproof_x", {**SERVERS, "sasl.password": "s3cret"})
    assert "s3cret" not in str(caught.value) + repr(store) + repr(place)


@pytest.mark.parametrize(
    "servers", ["localhost", "kafka://h:9092", "h:1,", "h:x", ":1"]
)
def test_what_names_no_brokers_is_refused(servers):
    """With what to write."""
    with pytest.raises(StoreError, match=r"as Kafka\('host:9092,other:9092'\)"):
        Kafka(servers)


def test_settings_of_clients_need_brokers_of_ones_own():
    """The broker that is started takes none; addresses are no setting."""
    with pytest.raises(StoreError, match="for brokers of your own"):
        Kafka(settings={"security.protocol": "SSL"})
    with pytest.raises(StoreError, match="takes no address, and starts a broker"):
        Kafka("h:1", {"bootstrap.servers": "h:2"})


def test_equal_descriptions_are_one_store():
    """So one broker starts."""
    assert len({Kafka(), Kafka(), Kafka("h:1"), Kafka("h:1")}) == 2
    assert Kafka("h:1", {"client.id": "a"}) != Kafka("h:1", {"client.id": "b"})


def test_a_place_can_be_handed_to_other_processes_and_names_its_own():
    """It is plain values; Spark may write to its brokers, and to no others."""
    place = KafkaPlace("onceproof_x", SERVERS)

    assert pickling.unpack(pickling.pack(place)) == place
    assert len({place, KafkaPlace("onceproof_x", SERVERS)}) == 1
    assert place.named("tx") == "onceproof_x-tx"
    assert place.options == {
        "kafka.bootstrap.servers": "k1:9092,k2:9093",
        "topic": "onceproof_x",
    }
    assert allows("k2:9093,k1:9092", place.allowed)
    assert not allows("k1:9092,k3:9092", place.allowed)


def test_connections_to_brokers_of_your_own_are_broken():
    """Each of them leads to the proxy."""
    own = Kafka("k1:9092,[::1]:9093", {"security.protocol": "SSL"})
    place = KafkaPlace("onceproof_x", {"bootstrap.servers": own.servers})

    assert itself(Unreliable(own)) == own
    assert itself(Unreliable(Kafka())) == Kafka()
    assert place.addresses == (("k1", 9092), ("::1", 9093))
    with pytest.raises(StoreError, match="takes no address, and starts a broker"):
        Kafka("h:1", {"metadata.broker.list": "h:2"})


def test_a_place_behind_a_proxy_is_the_same_place():
    """Its producers wait for a flush: how many requests they send does not vary."""
    place = KafkaPlace("onceproof_x", {"bootstrap.servers": "127.0.0.1:9092"})

    moved = place.through(9)

    assert place.addresses == (("127.0.0.1", 9092),)
    assert (moved.topic, moved.servers) == (place.topic, "127.0.0.1:9")
    assert moved.allowed == ("127.0.0.1:9",)
    assert set(moved.client) - set(place.client) == {"linger.ms"}


@pytest.mark.parametrize(
    ("lacks", "text"),
    [
        ("java", "install Java 17"),
        ("jars", "jars cannot be fetched (<urlopen"),
        ("client", "pip install 'onceproof[kafka]'"),
    ],
)
def test_what_is_missing_is_said_with_its_remedy(monkeypatch, tmp_path, lacks, text):
    """A sentence says what to install; brokers of one's own need the client alone."""
    if lacks == "java":
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    elif lacks == "jars":
        monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path))
        monkeypatch.setenv(maven.VARIABLE, "http://127.0.0.1:1/maven2")
        text = f"set {maven.VARIABLE} to the URL of a Maven repository"
    else:
        monkeypatch.setitem(sys.modules, "confluent_kafka", None)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    found = Kafka().missing()

    assert any(text in one for one in found)
    assert bool(Kafka("h:1").missing()) == (lacks == "client")
    with pytest.raises(StoreError, match="the store kafka cannot be started: "):
        refuse_missing(Kafka())


def test_sparks_session_gets_the_connector_unless_there_is_one(monkeypatch, tmp_path):
    """A connector of the user's own is used; a Spark without one gets no jar."""
    from onceproof.spark_checks.stores.kafka import store as module

    taken = []
    monkeypatch.setattr(module, "fetched", lambda jars: taken.append(jars) or ())
    own = {"spark.jars.packages": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.3"}

    Kafka().needs({}, tmp_path)
    Kafka("h:1").needs({}, tmp_path)
    assert taken == [module.connector("kafka")] * 2

    Kafka().needs(own, tmp_path)
    assert len(taken) == 2

    monkeypatch.setattr(module, "connector", lambda store: ())
    assert Kafka().needs({}, tmp_path).jars == ()
