"""A real server of S3: started, divided into places, cleaned up, and ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid

import pytest

from onceproof.spark_checks import S3, S3Place, Unreliable
from onceproof.spark_checks.inject.hosts import pickling
from onceproof.spark_checks.session import scratch
from onceproof.spark_checks.session.store_pool import StorePool
from onceproof.spark_checks.sinks.allowed_places import allows
from onceproof.spark_checks.stores.interface import StoreError, refuse_missing
from onceproof.spark_checks.stores.jars.maven import Jar
from onceproof.spark_checks.stores.s3 import server
from onceproof.spark_checks.stores.s3 import store as module

OWN = {"bucket": "tests", "access_key": "me", "secret_key": "s3cret"}
WANTED = Jar("org.apache.hadoop:hadoop-aws:3.4.2", "0" * 64)
PLACE = S3Place("http://127.0.0.1:9000", "tests", "onceproof_x", "me", "s3cret", "eu")


def gone(number, seconds=10):
    """Wait until a process has ended."""
    ends = time.monotonic() + seconds
    while scratch.Process.of(number) is not None and time.monotonic() < ends:
        time.sleep(0.05)
    return scratch.Process.of(number) is None


def name():
    """Return a name as runs give them."""
    return f"onceproof_{uuid.uuid4().hex}"


def put(place, *names):
    """Put an object below the place for each name."""
    client = place.client()
    for one in names:
        client.put_object(Bucket=place.bucket, Key=place.key(one), Body=one.encode())


def uploads(place):
    """List the keys of uploads that are neither complete nor given up."""
    found = place.client().list_multipart_uploads(Bucket=place.bucket)
    return [one["Key"] for one in found.get("Uploads", ())]


def test_a_place_is_a_prefix_that_is_dropped_with_its_uploads_and_nothing_else(buckets):
    """A place whose name goes on after another's is not below it."""
    place = buckets.place(name())
    other = buckets.place(f"{place.prefix}_more")
    put(place, "t/a", "t/b", "t/_SUCCESS", "t/_temporary/c", ".d", "e/")
    put(other, "t/a")
    for each in (place, other):
        each.client().create_multipart_upload(Bucket=each.bucket, Key=each.key("u"))
    listed = place.keys(), place.keys("t"), place.keys("nothing")

    buckets.drop(place)
    buckets.drop(place)

    assert listed == (
        [place.key("t/a"), place.key("t/b")],
        [place.key("t/a"), place.key("t/b")],
        [],
    )
    assert place.keys() == []
    assert other.keys() == [other.key("t/a")]
    assert uploads(other) == [other.key("u")]
    buckets.drop(other)
    assert uploads(other) == []


@pytest.mark.grid
def test_more_objects_than_a_page_lists_are_dropped(buckets):
    """A page lists a thousand."""
    place = buckets.place(name())
    put(place, *(f"t/{number}" for number in range(1001)))
    assert len(place.keys()) == 1001

    buckets.drop(place)

    assert place.keys() == []


@pytest.mark.ci
def test_libraries_read_what_others_write(buckets, tmp_path):
    """Each is given the place by options of its own."""
    import pyarrow as pa
    from deltalake import DeltaTable, write_deltalake
    from pyarrow import fs

    place = buckets.place(name())
    rows = pa.table({"number": [1, 2]})

    write_deltalake(f"{place.url}/d", rows, storage_options=place.storage_options)
    read = DeltaTable(f"{place.url}/d", storage_options=place.storage_options)
    listed = fs.S3FileSystem(**place.pyarrow).get_file_info(
        fs.FileSelector(f"{place.bucket}/{place.prefix}/d/_delta_log")
    )

    assert sorted(read.to_pyarrow_table()["number"].to_pylist()) == [1, 2]
    assert [one.base_name for one in listed] == ["00000000000000000000.json"]
    assert place.s3fs["client_kwargs"]["endpoint_url"] == place.endpoint
    buckets.drop(place)


@pytest.mark.ci
def test_a_bucket_of_ones_own_is_used_and_left_as_it_is(buckets):
    """What lies there already stays; a bucket that is not there is named."""
    theirs = buckets.place("theirs")
    put(theirs, "kept")
    own = {**OWN, "bucket": theirs.bucket}
    stores = StorePool()
    running = stores.running(S3(theirs.endpoint, **own))
    place = running.place(name())
    put(place, "t/a")

    running.drop(place)
    stores.close()

    assert running.process is None
    assert theirs.keys() == ["theirs/kept"]
    buckets.drop(theirs)
    with pytest.raises(StoreError, match=r"bucket nowhere at .* does not serve"):
        StorePool().running(S3(theirs.endpoint, **{**own, "bucket": "nowhere"}))


@pytest.mark.ci
def test_a_server_is_ended_and_leaves_nothing(s3):
    """Its process and its files are gone."""
    stores = StorePool()
    running = stores.running(s3)
    assert stores.running(S3()) is running
    [folder] = [
        one.folder
        for one in scratch.left()
        if running.process in {process.number for process in one.processes}
    ]

    stores.close()

    assert gone(running.process)
    assert not folder.exists()


@pytest.mark.ci
def test_a_server_ends_with_its_run_however_that_ends(s3, tmp_path):
    """So it does where a child of the run lives on."""
    code = (
        "import os, time\n"
        "from onceproof.spark_checks import S3\n"
        "from onceproof.spark_checks.session.store_pool import StorePool\n"
        "stores = StorePool()\n"
        "number = stores.running(S3()).process\n"
        "if os.fork(): print(number, flush=True)\n"
        "time.sleep(20)\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    number = int(run.stdout.readline())

    run.send_signal(signal.SIGKILL)
    run.wait()
    ended = gone(number)

    os.killpg(run.pid, signal.SIGKILL)
    run.stdout.close()
    assert ended


def test_a_server_that_does_not_start_says_why(monkeypatch, tmp_path):
    """Its last words are in the message."""
    monkeypatch.setattr(server, "_MODULE", "onceproof.no_such_module")

    with pytest.raises(StoreError, match=r"does not start: .*no_such_module"):
        server.start(tmp_path)


@pytest.mark.parametrize(
    "given",
    [
        {"endpoint": "http://h:9000"},
        {"bucket": "tests"},
        {"endpoint": "h:9000", **OWN},
        {"endpoint": "http://", **OWN},
    ],
)
def test_what_names_no_bucket_is_refused(given):
    """With what to write, and without secrets."""
    with pytest.raises(StoreError, match=r"S3\('http://host:9000', bucket") as caught:
        S3(**given)

    assert "s3cret" not in str(caught.value)


def test_equal_descriptions_are_one_store_and_show_no_keys():
    """So one server starts."""
    store = S3("http://h:9000", **OWN)

    assert len({S3(), S3(), store, S3("http://h:9000", **OWN)}) == 2
    assert "s3cret" not in repr(store) + repr(PLACE)


def test_a_place_can_be_handed_to_other_processes_and_names_its_own():
    """It is plain values; Spark may write below its prefix, and nowhere else."""
    assert pickling.unpack(pickling.pack(PLACE)) == PLACE
    assert PLACE.path == "s3a://tests/onceproof_x"
    assert PLACE.address == ("127.0.0.1", 9000)
    assert PLACE.through(7).address == ("127.0.0.1", 7)
    assert allows("s3a://tests/onceproof_x/t", PLACE.allowed)
    assert allows("127.0.0.1:9000", PLACE.allowed)
    assert not allows("s3a://tests/onceproof_xy/t", PLACE.allowed)
    assert not allows("s3a://tests", PLACE.allowed)
    assert not allows("127.0.0.1:9001", PLACE.allowed)


def test_connections_are_broken_unless_a_certificate_names_the_server():
    """It says so at once, and why."""
    assert Unreliable(S3("http://h:9000", **OWN)).name == "s3"
    with pytest.raises(StoreError, match=r"certificate names the host .*help: "):
        Unreliable(S3("https://h:9000", **OWN))


@pytest.mark.parametrize("lacks", ["boto3", "moto", "flask", "flask_cors"])
def test_what_is_missing_is_said_with_its_remedy(monkeypatch, lacks):
    """A sentence says what to install; a server of one's own needs the client alone."""
    found = [object(), None]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: found[name == lacks])

    [sentence] = S3().missing()

    assert sentence == f"{lacks} is missing: pip install 'onceproof[s3]'"
    assert bool(S3("http://h:1", **OWN).missing()) == (lacks == "boto3")
    with pytest.raises(StoreError, match="the store s3 cannot be started: "):
        refuse_missing(S3())


def test_sparks_session_gets_s3a_unless_there_is_one(monkeypatch, tmp_path):
    """The endpoint is that of the bucket alone; a Spark without S3A gets nothing."""
    taken = []
    monkeypatch.setattr(module, "fetched", lambda jars: taken.append(jars) or ())
    monkeypatch.setattr(module, "connector", lambda store: (WANTED,))
    store = S3("http://h:9000/", **OWN)

    found = dict(store.needs({}, tmp_path).settings)

    of_bucket = "spark.hadoop.fs.s3a.bucket.tests"
    assert taken == [(WANTED,)]
    assert found[f"{of_bucket}.endpoint"] == "http://h:9000"
    assert found[f"{of_bucket}.secret.key"] == "s3cret"
    assert not {key for key in found if key.startswith("spark.hadoop.fs.s3a.end")}
    local = [value for key, value in found.items() if key.endswith(("dir", "path"))]
    assert all(str(tmp_path) in value for value in local)
    monkeypatch.setattr(module, "connector", lambda store: ())
    assert store.needs({}, tmp_path).settings == ()


@pytest.mark.parametrize("known", [True, False])
def test_an_s3a_of_the_users_own_is_used(monkeypatch, tmp_path, known):
    """On any Spark; committers are bound where their jar is named, too."""
    monkeypatch.setattr(module, "fetched", lambda jars: pytest.fail("fetched"))
    monkeypatch.setattr(module, "connector", lambda store: (WANTED,) if known else ())
    store, aws = S3("http://h:9000", **OWN), "org.apache.hadoop:hadoop-aws:3.5.0"
    cloud = f"{aws},org.apache.spark:spark-hadoop-cloud_2.13:4.2.0"

    alone = store.needs({"spark.jars.packages": aws}, tmp_path)
    both = store.needs({"spark.jars.packages": cloud}, tmp_path)

    committers = {"spark.sql.sources.commitProtocolClass"}
    assert alone.jars == both.jars == ()
    assert "spark.hadoop.fs.s3a.bucket.tests.endpoint" in dict(alone.settings)
    assert committers & dict(alone.settings).keys() == set()
    assert committers & dict(both.settings).keys() == committers
