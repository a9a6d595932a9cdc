"""Table formats by a connector of Spark: jars, settings, and a place each."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.spark_checks import Delta, Hudi, Iceberg, Paimon
from onceproof.spark_checks.stores.jars import connectors, maven
from tests.spark_checks.stores.needed import needs

JARS = (Path("/cache/connector.jar"), Path("/cache/storage.jar"))
STORES = (Delta(), Hudi(), Iceberg(), Paimon())
OF_MY_OWN = {
    "delta": ("spark.jars.packages", "io.delta:delta-spark_2.13:4.0.0", "4.0.0"),
    "hudi": ("spark.jars", "/opt/hudi-spark3.5-bundle_2.12-1.1.0.jar", "1.1.0"),
    "iceberg": (
        "spark.jars",
        "/opt/iceberg-spark-runtime-4.1_2.13-1.11.0.jar",
        "1.11.0",
    ),
    "paimon": ("spark.jars", "/opt/paimon-spark-3.5-1.2.0.jar", "1.2.0"),
}


def names(store):
    """Call a test by its store."""
    return store.name


@pytest.fixture(params=STORES, ids=names)
def store(request):
    """Give each store that this Spark has a connector for."""
    return needs(request.param)


@pytest.fixture
def fetched(monkeypatch):
    """Fetch nothing; list what was asked for."""
    asked = []

    def fetch(wanted):
        asked.extend(wanted)
        return JARS

    monkeypatch.setattr(maven, "fetched", fetch)
    return asked


def test_the_session_gets_jars_and_settings(store, fetched, tmp_path):
    """Those for the PySpark that is installed, and their version for evidence."""
    found = store.needs({}, tmp_path)

    assert found.jars == JARS
    assert fetched == list(connectors.connector(store.name))
    assert "spark.sql.extensions" in dict(found.settings)
    assert found.version == store.version() != ""


def test_a_connector_of_the_users_own_is_used(store, fetched, tmp_path):
    """Two versions in one session would be a third one."""
    setting, mine, version = OF_MY_OWN[store.name]

    found = store.needs({setting: mine}, tmp_path)

    assert (found.jars, found.version, fetched) == ((), version, [])
    assert found.settings == store.needs({}, tmp_path).settings


@pytest.mark.parametrize("store", STORES, ids=names)
def test_a_spark_without_a_connector_is_refused_in_a_sentence(store, monkeypatch):
    """Which names the versions that there is one for."""
    monkeypatch.setattr(connectors, "versions_of", lambda name: {name: "9.7.1"})

    [sentence] = store.missing()

    assert f"no {store.name} connector for PySpark 9.7.1" in sentence
    assert store.version() == ""


def test_tables_of_iceberg_are_kept_in_the_stores_folder(tmp_path):
    """None is kept in memory: a reader sees what is committed."""
    settings = dict(Iceberg().settings(tmp_path))

    assert settings["spark.sql.catalog.onceproof_iceberg.warehouse"] == str(tmp_path)
    assert settings["spark.sql.catalog.onceproof_iceberg.cache-enabled"] == "false"


def test_a_place_in_iceberg_is_a_namespace_and_its_folder(tmp_path):
    """It is dropped with its tables."""
    running = Iceberg().start(tmp_path)

    place = running.place("onceproof_1")

    assert place.namespace == "onceproof_iceberg.onceproof_1"
    assert place.path == str(tmp_path / "onceproof_1")
    running.drop(place)
    assert list(tmp_path.iterdir()) == []


def test_paimon_names_the_folder_of_a_namespace_in_its_own_way(tmp_path):
    """Its catalog would not find the namespace otherwise."""
    place = Paimon().start(tmp_path).place("onceproof_1")

    assert place.namespace == "onceproof_paimon.onceproof_1"
    assert place.path == str(tmp_path / "onceproof_1.db")
    assert ("spark.sql.catalog.onceproof_paimon.warehouse", str(tmp_path)) in (
        Paimon().settings(tmp_path)
    )
