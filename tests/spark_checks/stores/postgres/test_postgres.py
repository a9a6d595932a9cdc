"""A real PostgreSQL server: started, divided into places, cleaned up, and ended."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import pytest

from onceproof.spark_checks import Postgres
from onceproof.spark_checks.cli.examination import examine
from onceproof.spark_checks.inject.hosts import pickling
from onceproof.spark_checks.session import scratch
from onceproof.spark_checks.session.store_pool import StorePool
from onceproof.spark_checks.sinks.allowed_places import allows
from onceproof.spark_checks.sinks.interface import Target
from onceproof.spark_checks.sinks.reference.postgres.deduplication_table import (
    build,
    write_new,
)
from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.postgres import server as postgres_server
from onceproof.spark_checks.stores.postgres.store import RunningPostgres


def connect(url):
    import psycopg

    return psycopg.connect(url, autocommit=True)


def flight(key, carrier):
    from pyspark.sql import Row

    return Row(
        flight_id=key,
        carrier=carrier,
        origin="JFK",
        dest="LAX",
        distance=2475,
        late=False,
    )


@pytest.fixture
def place(server):
    made = server.place(f"onceproof_{uuid.uuid4().hex}")
    yield made
    server.drop(made)


def schemas(server):
    with connect(server._url) as db:
        found = db.execute("SELECT nspname FROM pg_namespace").fetchall()
    return {name for (name,) in found if name.startswith("onceproof")}


def test_tables_without_a_schema_lie_in_the_place(server, place):
    """What a sink creates by its bare name is its own, and nobody else sees it."""
    other = server.place(f"onceproof_{uuid.uuid4().hex}")
    for one in (place, other):
        with connect(one.url) as db:
            db.execute("CREATE TABLE orders (id int)")
            db.execute("INSERT INTO orders VALUES (1)")
            assert db.execute("SELECT count(*) FROM orders").fetchone() == (1,)
            assert db.execute("SELECT current_schema()").fetchone() == (one.schema,)
    server.drop(other)

    with connect(place.url) as db:
        assert db.execute("SELECT count(*) FROM orders").fetchone() == (1,)
    assert other.schema not in schemas(server)


def test_a_place_can_be_handed_to_other_processes(place):
    """It is plain values."""
    assert pickling.unpack(pickling.pack(place)) == place


def test_a_place_is_dropped_whatever_still_holds_it(server):
    """Open transactions and prepared ones are ended: those that lock it, alone."""
    import psycopg

    mine, other = (server.place(f"onceproof_{uuid.uuid4().hex}") for _ in range(2))
    parked = {}
    for one in (mine, other):
        with connect(one.url) as db:
            db.execute("CREATE TABLE orders (id int)")
        parked[one] = psycopg.connect(one.url)
        parked[one].execute("INSERT INTO orders VALUES (1)")
        db = psycopg.connect(one.url)
        db.tpc_begin(db.xid(1, f"it's \\ {one.schema}", "task"))
        db.execute("INSERT INTO orders VALUES (2)")
        db.tpc_prepare()
        db.close()

    server.drop(mine)

    assert mine.schema not in schemas(server)
    with pytest.raises(psycopg.Error):
        parked[mine].execute("SELECT 1")
    parked[other].execute("SELECT 1")
    with connect(other.url) as db:
        [(gid,)] = db.execute("SELECT gid FROM pg_prepared_xacts").fetchall()
        db.execute(f"ROLLBACK PREPARED '{gid}'")
    parked[other].close()
    server.drop(other)
    assert other.schema not in schemas(server)


def test_a_place_that_is_gone_is_dropped_in_silence(server):
    """The sink may have dropped its schema itself."""
    made = server.place(f"onceproof_{uuid.uuid4().hex}")
    server.drop(made)

    server.drop(made)


def test_spark_may_write_to_the_schema_and_to_no_other(place):
    """The address of the guard has the schema in it."""
    assert allows(place.jdbc, place.allowed)
    assert allows(f"{place.jdbc}&reWriteBatchedInserts=true", place.allowed)
    assert not allows(place.jdbc.partition("?")[0], place.allowed)
    assert not allows(place.jdbc.replace(place.schema, "public"), place.allowed)
    assert place.options["user"] == "onceproof"
    assert place.options["password"] not in place.jdbc


def test_a_deduplication_table_lets_one_row_of_a_key_through(place):
    """Neither within a batch nor in a later one is a key written twice."""
    build(Target(Path("unused"), "unused", store=place))

    write_new(place.url, [flight("1", "AA"), flight("2", "DL"), flight("1", "UA")])
    write_new(place.url, [flight("2", "UA"), flight("3", "B6"), flight("1", "AA")])

    with connect(place.url) as db:
        found = db.execute("SELECT flight_id, carrier FROM flights ORDER BY 1")
        rows = found.fetchall()
    assert rows == [("1", "AA"), ("2", "DL"), ("3", "B6")]


def test_a_server_of_ones_own_is_only_connected_to(server):
    """Schemas are made on it and dropped; it goes on, and keeps what it had."""
    with connect(server._url) as db:
        db.execute("CREATE SCHEMA theirs")
        db.execute("CREATE TABLE theirs.kept (id int)")
    stores = StorePool()
    theirs = stores.running(Postgres(f"{server._url}?application_name=shop"))
    made = theirs.place("onceproof_of_another")
    with connect(made.url) as db:
        db.execute("CREATE TABLE kept (id int)")
        name = db.execute("SHOW application_name").fetchone()
        assert name == ("shop",)
    assert theirs.process is None

    theirs.drop(made)
    stores.close()

    assert "onceproof_of_another" not in schemas(server)
    with connect(server._url) as db:
        assert db.execute("SELECT count(*) FROM theirs.kept").fetchone() == (0,)
        db.execute("DROP SCHEMA theirs CASCADE")


def test_a_server_is_ended_and_leaves_nothing(postgres):
    """Its process, its sessions and its files are gone."""
    stores = StorePool()
    running = stores.running(postgres)
    assert stores.running(Postgres()) is running
    number = running.process
    folders = {one.folder for one in scratch.left() if number in _numbers(one)}
    assert len(folders) == 1
    db = connect(running.place("onceproof_open").url)

    stores.close()

    assert not Path(f"/proc/{number}").exists()
    assert not any(folder.exists() for folder in folders)
    db.close()


def _numbers(one):
    return {process.number for process in one.processes}


@pytest.fixture
def folder():
    """Give a folder for temporary files that all users can enter, as /tmp is."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield made


def test_the_server_of_a_killed_run_is_ended_by_the_next(postgres, folder):
    """A run that is killed notes its server, so that it can be found.

    What the server shares between its processes is in its folder, and goes with it.
    """
    code = (
        "import os, signal\n"
        "from onceproof.spark_checks import Postgres\n"
        "from onceproof.spark_checks.session.store_pool import StorePool\n"
        "stores = StorePool()\n"
        "print(stores.running(Postgres()).process, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": folder},
        capture_output=True,
        text=True,
        check=False,
    )
    number = int(done.stdout)
    assert scratch.Process.of(number) is not None
    assert "/dev/shm/" not in Path(f"/proc/{number}/maps").read_text()

    swept = subprocess.run(
        [
            sys.executable,
            "-c",
            "from onceproof.spark_checks.session.scratch import sweep; print(sweep())",
        ],
        env={**os.environ, "TMPDIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )

    assert folder in swept.stdout
    assert scratch.Process.of(number) is None


@pytest.mark.parametrize(
    ("lacks", "text"),
    [
        ({postgres_server.VARIABLE: "/nowhere"}, "apt-get install postgresql"),
        ({}, ""),
    ],
)
def test_what_is_missing_is_said_with_its_remedy(postgres, monkeypatch, lacks, text):
    """A sentence says what to install."""
    for name, value in lacks.items():
        monkeypatch.setenv(name, value)

    found = Postgres().missing()

    assert bool(found) == bool(lacks)
    assert text in "; ".join(found)
    if lacks:
        with pytest.raises(StoreError, match="the store postgres cannot be started"):
            StorePool().running(Postgres())
        assert Postgres("postgresql://db:5432/orders").missing() == ()


def test_the_examination_names_the_version_of_the_server(server):
    """It is that of the server that replays start."""
    with connect(server._url) as db:
        (running,) = db.execute("SHOW server_version").fetchone()

    [found] = [one for one in examine() if one.name == "store postgres"]

    assert found.version == f"{running.split(' ')[0]}, can be started"


def test_a_server_that_does_not_answer_is_named_without_its_password():
    """The sentence names the place, and no secret."""
    url = "postgresql://me:s3cret@127.0.0.1:1/orders"
    pytest.importorskip("psycopg")

    with pytest.raises(StoreError, match=r"127\.0\.0\.1:1/orders") as caught:
        StorePool().running(Postgres(url))

    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(Postgres(url))


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:s3cret@host/db",
        "postgresql+psycopg://me:s3cret@host/db",
        "jdbc:postgresql://host/db?password=s3cret",
        "host=127.0.0.1 password=s3cret",
        "/var/lib/db",
        "host:5432",
    ],
)
def test_what_is_no_url_of_postgresql_is_refused(url):
    """With what to write."""
    with pytest.raises(StoreError, match="one such as postgresql://") as caught:
        Postgres(url)

    assert "s3cret" not in str(caught.value)


def test_a_port_that_is_taken_meanwhile_is_no_failure(postgres, monkeypatch):
    """Another port is tried."""
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ports = iter([taken.getsockname()[1], postgres_server._free_port()])
        monkeypatch.setattr(postgres_server, "_free_port", lambda: next(ports))
        folder = scratch.Scratch()
        server = postgres_server.start(folder.path)
        try:
            RunningPostgres(server.url, server).wait()
        finally:
            server.stop()
            folder.remove()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts it as another user")
def test_a_folder_that_the_server_cannot_enter_is_named(postgres, folder, monkeypatch):
    """With the setting that helps."""
    Path(folder).chmod(0o700)
    monkeypatch.setattr(tempfile, "tempdir", folder)

    with pytest.raises(StoreError, match=f"cannot enter {folder}: set TMPDIR"):
        StorePool().running(postgres)

    assert not list(Path(folder).iterdir())
