"""What committers leave on S3 where a driver dies in the midst is what models say."""

from __future__ import annotations

import json
import threading

import pytest

from onceproof.model.language import Member
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.spark_checks import S3, Target
from onceproof.spark_checks.sinks.reference import every_reference_sink
from onceproof.spark_checks.stores.s3.place import S3Place
from tests.spark_checks.stores.needed import needs
from tests.spark_checks.stores.s3.cut_off_s3 import CutOff

NAMES = {"v1": "", "v2": "", "magic": "magic", "directory": "directory"}
"""By its name, what each committer calls itself where it has committed."""
EVERY = [pytest.param(name, marks=pytest.mark.grid) for name in NAMES]
PUBLISHING = ("sink.publish", "sink.move")
EACH = 2
"""How many rows a partition has."""


@pytest.fixture(scope="module")
def cut_off():
    """Start a server that can be cut off; give it, and a bucket on it as a store."""
    needs(S3())
    from moto.moto_server.werkzeug_app import (
        DomainDispatcherApplication,
        create_backend_app,
    )
    from werkzeug.serving import make_server

    made = CutOff(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, made, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    endpoint = f"http://127.0.0.1:{server.port}"
    own = {"bucket": "tests", "access_key": "a", "secret_key": "b"}
    S3Place(endpoint, **own, prefix="", region="us-east-1").client().create_bucket(
        Bucket="tests"
    )
    yield made, S3(endpoint, **own)
    server.shutdown()
    thread.join()
    server.server_close()


def predicted(model, published):
    """Run a model part up to a crash, and on; return what readers see, twice over.

    The driver dies when so many files are published and the next one would be.
    """
    protocol = MicroBatch(sink=model, BATCH=1, PARTITION=2, ATTEMPT=1)
    semantics = Interpreter(protocol)
    [state] = semantics.initial_states()
    seen, count = [], 0
    while semantics.look(state).commits == 0:
        event, after = next(
            (e, s)
            for e, s in semantics.successors(state)
            if not e.fault and e.name != "zombie_write" and s != state
        )
        if event.name in PUBLISHING and not seen:
            if count == published:
                [crash] = [e for e in semantics.events() if e.name == "crash"]
                seen.append(visible(semantics, state))
                after = semantics.after(state, crash)
            count += 1
        state = after
    return [*seen, visible(semantics, state)]


def visible(semantics, state):
    """Count how often readers see each partition's rows: lowest first."""
    look, batch = semantics.look(state), Member(0, MicroBatch.BATCH)
    return sorted(look.visible(batch, Member(p, MicroBatch.PARTITION)) for p in (0, 1))


def observed(sink, spark):
    """Count how often each partition's rows are there: lowest first."""
    rows = [int(row.flight_id) // EACH for row in sink.read(spark).collect()]
    assert all(rows.count(p) % EACH == 0 for p in (0, 1))
    return sorted(rows.count(p) // EACH for p in (0, 1))


@pytest.fixture(scope="module")
def spark(pool, cut_off, tmp_path_factory):
    """Give a session that writes to the server."""
    _, store = cut_off
    wanted = store.needs({}, tmp_path_factory.mktemp("s3"))
    with pool.session(attempts=1, partitions=2, needs=wanted) as session:
        yield session.spark


@pytest.mark.spark
@pytest.mark.parametrize("published", [0, 1])
@pytest.mark.parametrize("name", EVERY)
def test_a_driver_that_dies_leaves_what_the_model_says(
    spark, cut_off, tmp_path, name, published
):
    """Some files of a batch are there; its next run leaves them, or what lay aside."""
    print(
        "DEFAULT",
        spark.conf.get("spark.hadoop.fs.s3a.committer.name", "unset"),
        spark.sparkContext.getConf().get("spark.hadoop.fs.s3a.committer.magic.enabled"),
    )
    server, store = cut_off
    described = every_reference_sink()[f"s3-append-{name}"]
    place = store.start(tmp_path).place(f"onceproof_{name}_{published}")
    sink = described.build(Target(tmp_path, "sink", store=place))
    rest = "'a' carrier", "'b' origin", "'c' dest", "id distance", "true late"
    rows = spark.range(0, 2 * EACH, 1, 2).selectExpr("string(id) flight_id", *rest)

    with server.after(published), pytest.raises(Exception, match=r"cut off|AccessDen"):
        sink.write(rows, 0)
    died = observed(sink, spark)
    sink.write(rows, 0)

    assert server.happened
    assert [died, observed(sink, spark)] == predicted(described.model, published)
    assert died == [0, published]
    assert committer(place) == NAMES[name]


def committer(place):
    """Return what a committer of S3A has written of itself; empty for another's."""
    key = place.key("flights/_SUCCESS")
    found = place.client().get_object(Bucket=place.bucket, Key=key)["Body"].read()
    return json.loads(found)["committer"] if found else ""
