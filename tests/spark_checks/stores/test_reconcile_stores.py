"""A Kafka topic is reconciled with a table of PostgreSQL, as a user does it."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
import uuid

import pytest

from onceproof.spark_checks import Kafka, Postgres
from tests.spark_checks.stores.needed import needs

pytestmark = [pytest.mark.grid, pytest.mark.spark]
# A topic drops old events; one of an hour ago stays, and is in New York's own hour.
UNTIL = dt.datetime.now(tz=dt.UTC).replace(microsecond=0) - dt.timedelta(hours=1)
A_MOMENT = dt.timedelta(milliseconds=1)
PARSED = "from_json(string(value), 'id long, cents long') AS row, timestamp AS at"
QUERY = f"SELECT row.*, at FROM (SELECT {PARSED} FROM source)"


@pytest.fixture
def topic(broker):
    made = broker.place(f"onceproof_{uuid.uuid4().hex}")
    yield made
    broker.drop(made)


@pytest.fixture
def schema(server):
    made = server.place(f"onceproof_{uuid.uuid4().hex}")
    yield made
    server.drop(made)


def produced(topic, events, *, commit):
    """Send events in a transaction, which is committed or aborted."""
    from confluent_kafka import Producer

    writer = Producer({**topic.client, "transactional.id": topic.named("w")})
    writer.init_transactions()
    writer.begin_transaction()
    for number, (name, at) in enumerate(events):
        value = json.dumps({"id": name, "cents": 100 * name})
        stamp = round(at.timestamp() * 1000)
        writer.produce(topic.topic, value, timestamp=stamp, partition=number % 2)
    writer.flush()
    if commit:
        writer.commit_transaction()
    else:
        writer.abort_transaction()


def stored(schema, rows):
    """Put rows into a table whose time has no zone, and is that of UTC."""
    import psycopg

    with psycopg.connect(schema.url, autocommit=True) as db:
        db.execute("SET TIME ZONE 'UTC'")
        db.execute("CREATE TABLE payments (id int, cents bigint, at timestamp)")
        for name, at in rows:
            db.execute(
                "INSERT INTO payments VALUES (%s, %s, %s)",
                (name, 100 * name, at.replace(tzinfo=None)),
            )


def reconciled(topic, schema, *more):
    """Run the command on a machine in New York."""
    jars = (*Kafka().needs({}, None).jars, *Postgres(jdbc=True).needs({}, None).jars)
    options = {k: v for k, v in schema.options.items() if k != "url"}
    words = ["--source", f"kafka:{topic.servers}/{topic.topic}"]
    words += ["--source-query", QUERY, "--sink", schema.jdbc, "--key", "id"]
    for name, value in {**options, "dbtable": "payments"}.items():
        words += ["--sink-option", f"{name}={value}"]
    words += ["--conf", f"spark.jars={','.join(map(str, jars))}", "--sum", "cents"]
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", "reconcile"]
    done = subprocess.run(
        [*command, *words, *more, "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TZ": "America/New_York"},
    )
    assert done.stdout, done.stderr
    return done, json.loads(done.stdout)


def test_a_topic_and_a_table_agree_in_what_is_owed(topic, schema):
    """Aborted rows are no events, and times are those of UTC on both sides."""
    needs(Postgres(jdbc=True))
    events = [(n, UNTIL - (3 - n) * A_MOMENT) for n in range(3)]
    events += [(3, UNTIL), (4, UNTIL + A_MOMENT), (5, UNTIL + A_MOMENT)]
    produced(topic, events, commit=True)
    produced(topic, [(99, UNTIL - A_MOMENT)], commit=False)
    lost, twice = events[3], events[1]
    rows = [*(one for one in events[:5] if one != lost), twice]
    rows += [(70, UNTIL), (71, UNTIL + A_MOMENT)]
    stored(schema, rows)
    until = UNTIL.strftime("%Y-%m-%d %H:%M:%S")

    done, found = reconciled(topic, schema, "--time", "at", "--until", until)

    total = found["total"]
    assert done.returncode == 1, done.stderr
    assert (total["events"], total["owed"], total["once"]) == (6, 4, 3)
    assert found["examples"] == {
        "missing": [{"id": "3"}],
        "duplicated": [{"id": "1"}],
        "unexplained": [{"id": "70"}],
    }
    assert total["sums"]["cents"] == {"source": "600", "sink": "7400"}


def test_a_topic_that_is_all_there_holds(topic, schema):
    """Neither the aborted rows nor the marks of transactions are events."""
    needs(Postgres(jdbc=True))
    events = [(n, UNTIL) for n in range(1, 5)]
    produced(topic, [(99, UNTIL)], commit=False)
    produced(topic, events, commit=True)
    produced(topic, [(98, UNTIL)], commit=False)
    stored(schema, events)

    done, found = reconciled(topic, schema)

    assert done.returncode == 0, done.stderr
    assert found["total"]["events"] == 4
    assert set(found["verdicts"].values()) == {"held"}
