"""Delta Lake: its jars and settings, and a folder for each interleaving."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.spark_checks import Delta
from onceproof.spark_checks.stores import delta, jars
from tests.spark_checks.stores.needed import needs

JARS = (Path("/cache/delta-spark.jar"), Path("/cache/delta-storage.jar"))


@pytest.fixture
def fetched(monkeypatch):
    """Fetch nothing; list what was asked for."""
    asked = []

    def fetch(wanted):
        asked.extend(wanted)
        return JARS

    needs(Delta())
    monkeypatch.setattr(delta.maven, "fetched", fetch)
    return asked


def test_the_session_gets_deltas_jars_and_settings(fetched, tmp_path):
    """Those for the PySpark that is installed, and their version for evidence."""
    found = Delta().needs({}, tmp_path)

    assert found.jars == JARS
    assert fetched == list(jars.connector("delta"))
    assert dict(found.settings)["spark.databricks.delta.snapshotPartitions"] == "2"
    assert found.version == Delta().version() != ""


def test_a_delta_of_the_users_own_is_used(fetched, tmp_path):
    """Two versions in one session would be a third one."""
    mine = {"spark.jars.packages": "io.delta:delta-spark_2.13:4.0.0"}

    found = Delta().needs(mine, tmp_path)

    assert (found.jars, found.version, fetched) == ((), "4.0.0", [])
    assert found.settings == Delta().needs({}, tmp_path).settings


def test_a_spark_without_delta_is_refused_in_a_sentence(monkeypatch):
    """Which names those that there is a Delta for."""
    monkeypatch.setattr(jars, "versions_of", lambda name: {name: "9.7.1"})

    [sentence] = Delta().missing()

    assert "no delta connector for PySpark 9.7.1" in sentence
    assert Delta().version() == ""
