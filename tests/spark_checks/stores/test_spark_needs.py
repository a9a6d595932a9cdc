"""A store's jars and settings reach the session, beside those that users chose."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.replay import engine
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.session import session_pool
from onceproof.spark_checks.session.session_pool import SessionPool
from onceproof.spark_checks.sinks.reference import reference_sinks
from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.postgres import store
from onceproof.spark_checks.stores.postgres.store import Postgres
from onceproof.spark_checks.stores.spark_needs import (
    NO_NEEDS,
    SparkNeeds,
    own_version,
    with_needs,
)
from onceproof.spark_checks.stores.unreliable import Unreliable

NEEDS = SparkNeeds(
    (Path("/cache/delta-spark.jar"), Path("/cache/delta-storage.jar")),
    (("spark.sql.extensions", "io.delta.Ext"), ("spark.sql.catalog.c", "theirs")),
)


def test_needs_come_after_what_is_there():
    """Lists grow, and no other setting is overridden."""
    given = {
        "spark.jars": "/mine.jar",
        "spark.sql.extensions": "my.Ext",
        "spark.sql.catalog.c": "mine",
    }

    assert with_needs(given, NEEDS) == {
        "spark.jars": "/mine.jar,/cache/delta-spark.jar,/cache/delta-storage.jar",
        "spark.sql.extensions": "my.Ext,io.delta.Ext",
        "spark.sql.catalog.c": "mine",
    }


def test_what_is_there_already_is_not_added_again():
    """Spark would run an extension twice."""
    once = with_needs({}, NEEDS)

    assert with_needs(once, NEEDS) == once


def test_no_needs_change_nothing(tmp_path):
    """Neither by an empty list of jars."""
    assert with_needs({"spark.x": "1"}, NO_NEEDS) == {"spark.x": "1"}
    for one in (Postgres(), Unreliable(Postgres())):
        assert one.needs({}, tmp_path) == NO_NEEDS


@pytest.mark.parametrize(
    ("coordinate", "name", "value", "version"),
    [
        ("io.delta:delta-spark_4.1_2.13:4.4.0", "spark.jars.packages",
         "a:b:1,io.delta:delta-spark_2.13:4.0.0", "4.0.0"),
        ("io.delta:delta-spark_4.1_2.13:4.4.0", "spark.jars",
         "/x/y.jar,/ivy/io.delta_delta-spark_4.1_2.13-4.4.0.jar", "4.4.0"),
        ("o.a.i:iceberg-spark-runtime-4.1_2.13:1.12.0", "spark.jars",
         "/jars/iceberg-spark-runtime-4.0_2.13-1.10.0.jar", "1.10.0"),
        ("o.a.k:kafka-clients:3.9.2", "spark.driver.extraClassPath",
         "/a.jar:/b/kafka-clients-3.9.1.jar:/c.jar", "3.9.1"),
        ("io.delta:delta-spark_4.1_2.13:4.4.0", "spark.jars",
         "/jars/my-delta-spark-extras-1.0.jar,/delta-sparkle-2.0.jar", ""),
        ("io.delta:delta-spark_4.1_2.13:4.4.0", "spark.app.name",
         "/delta-spark_4.1_2.13-4.4.0.jar", ""),
    ],
)  # fmt: skip
def test_a_jar_of_the_users_own_is_known_by_its_artifact(
    coordinate, name, value, version
):
    """Whatever its version is, and that of Spark and Scala in its name."""
    assert own_version(["a:other:1", coordinate], {name: value}) == version


@pytest.fixture
def no_network(monkeypatch):
    """Jars are there by their names alone, and machines lack nothing."""
    monkeypatch.setattr(store, "refuse_missing", lambda _: None)
    monkeypatch.setattr(store.connectors, "_spark", lambda: "4.1")
    monkeypatch.setattr(
        store.maven, "fetched", lambda jars: tuple(Path(jar.file) for jar in jars)
    )


def test_spark_gets_the_driver_of_postgres_where_it_is_wanted(no_network, tmp_path):
    """Or takes the one that the user's own settings name."""
    wanted = Unreliable(Postgres(jdbc=True))
    own = {"spark.jars": "/mine/postgresql-42.6.0.jar"}

    [jar] = wanted.needs({}, tmp_path).jars

    assert "org.postgresql_postgresql-42" in jar.name
    assert wanted.needs(own, tmp_path).jars == ()
    assert wanted.needs(own, tmp_path).version.endswith("JDBC driver 42.6.0")


def test_a_server_is_the_same_with_the_driver_and_without():
    """So that it is started once."""
    assert Postgres(jdbc=True) == Postgres()
    assert hash(Postgres(jdbc=True)) == hash(Postgres())
    assert repr(Postgres("postgresql://h/x", jdbc=True)) == (
        "Postgres('postgresql://h/x', jdbc=True)"
    )
    assert repr(Postgres(jdbc=True)) == "Postgres(jdbc=True)"


def test_a_driver_that_is_not_known_for_this_spark_is_refused(monkeypatch, tmp_path):
    """Even if the server was started without it before."""
    monkeypatch.setattr(store.connectors, "connector", lambda _: ())

    with pytest.raises(StoreError, match="no postgres connector for PySpark"):
        Postgres(jdbc=True).needs({}, tmp_path)


class _Warm:
    """A session that is none."""

    started: ClassVar[list[SparkNeeds]] = []

    def __init__(self, *_, needs, **__):
        self.needs, self.alive, self.spark = needs, True, None
        self.started.append(needs)

    def pause(self):
        pass

    def resume(self):
        pass

    def stop(self):
        self.alive = False


@pytest.fixture
def plain_pool(monkeypatch):
    monkeypatch.setattr(session_pool, "WarmSession", _Warm)
    monkeypatch.setattr(_Warm, "started", [])
    made = SessionPool(None, {"spark.mine": "1"}, {"spark.theirs": "2"})
    yield made
    made.close()


def test_a_session_is_shared_by_equal_needs_alone(plain_pool):
    """With others it starts anew."""
    for needs in (NO_NEEDS, NEEDS, replace(NEEDS), NO_NEEDS):
        with plain_pool.session(attempts=2, partitions=2, needs=needs) as found:
            assert found.needs == needs

    assert _Warm.started == [NO_NEEDS, NEEDS, NO_NEEDS]


def test_a_session_in_use_is_not_exchanged(plain_pool):
    """What it has made, such as a sample of events, would be gone."""
    with (
        plain_pool.session(attempts=2, partitions=2),
        pytest.raises(UsageError, match="the session in use has others; help: make"),
        plain_pool.session(attempts=2, partitions=2, needs=NEEDS),
    ):
        pass


class _Store:
    """A store that needs something of the session."""

    name, unbreakable = "made-up", ""

    def __init__(self, needs):
        self.asked, self._needs = [], needs

    def missing(self):
        return ()

    def start(self, folder):
        self.folder, self.process = folder, None
        return self

    def stop(self):
        pass

    def needs(self, settings, folder):
        assert folder == self.folder
        self.asked.append(settings)
        return self._needs


def test_a_store_is_asked_with_the_users_own_settings(plain_pool):
    """Those of the ini file, and those of a fixture of the user's own."""
    store = _Store(NEEDS)

    assert plain_pool.needs_of(store) == plain_pool.needs_of(Unreliable(store)) == NEEDS
    assert plain_pool.needs_of(None) == NO_NEEDS
    assert store.asked == [{"spark.mine": "1", "spark.theirs": "2"}] * 2


def test_sinks_are_replayed_session_by_session(plain_pool, monkeypatch):
    """Each session starts once, and the reports keep the order of the sinks."""
    plain = reference_sinks()["foreach-batch-append"]
    on_store = replace(plain, store=_Store(NEEDS))
    sinks = [plain, on_store, plain, replace(plain, store=_Store(NEEDS))]

    def replayed(_, session, __, some, *___):
        return {n: SimpleNamespace(n=n, needs=session.needs) for n in some}

    monkeypatch.setattr(engine, "_in_session", replayed)
    found = engine.replay(sinks, lambda _: None, ReplayRequest(), pool=plain_pool)

    assert [one.n for one in found] == [0, 1, 2, 3]
    assert [one.needs for one in found] == [NO_NEEDS, NEEDS, NO_NEEDS, NEEDS]
    assert _Warm.started == [NO_NEEDS, NEEDS]
