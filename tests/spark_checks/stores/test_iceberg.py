"""Iceberg: its jar, a catalog in a folder, and a namespace for each interleaving."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.spark_checks import Iceberg
from onceproof.spark_checks.stores import iceberg, jars
from tests.spark_checks.stores.needed import needs

JARS = (Path("/cache/iceberg.jar"),)


@pytest.fixture
def fetched(monkeypatch):
    """Fetch nothing; list what was asked for."""
    asked = []

    def fetch(wanted):
        asked.extend(wanted)
        return JARS

    needs(Iceberg())
    monkeypatch.setattr(iceberg.maven, "fetched", fetch)
    return asked


def test_the_session_gets_a_catalog_in_the_stores_folder(fetched, tmp_path):
    """It keeps no tables in memory: a reader sees what is committed."""
    found = Iceberg().needs({}, tmp_path)

    settings = dict(found.settings)
    assert settings["spark.sql.catalog.onceproof_iceberg.warehouse"] == str(tmp_path)
    assert settings["spark.sql.catalog.onceproof_iceberg.cache-enabled"] == "false"
    assert found.jars == JARS
    assert fetched == list(jars.connector("iceberg"))
    assert found.version == Iceberg().version() != ""


def test_an_iceberg_of_the_users_own_is_used(fetched, tmp_path):
    """Two versions in one session would be a third one."""
    mine = {"spark.jars": "/opt/iceberg-spark-runtime-4.1_2.13-1.11.0.jar"}

    found = Iceberg().needs(mine, tmp_path)

    assert (found.jars, found.version, fetched) == ((), "1.11.0", [])


def test_a_place_is_a_namespace_and_its_folder(tmp_path):
    """It is dropped with its tables."""
    running = Iceberg().start(tmp_path)

    place = running.place("onceproof_1")

    assert place.namespace == "onceproof_iceberg.onceproof_1"
    assert place.path == str(tmp_path / "onceproof_1")
    running.drop(place)
    assert list(tmp_path.iterdir()) == []


def test_a_spark_without_iceberg_is_refused_in_a_sentence(monkeypatch):
    """Which names those that there is an Iceberg for."""
    monkeypatch.setattr(jars, "versions_of", lambda name: {name: "9.7.1"})

    [sentence] = Iceberg().missing()

    assert "no iceberg connector for PySpark 9.7.1" in sentence
