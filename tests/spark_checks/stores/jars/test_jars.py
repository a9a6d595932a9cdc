"""The table of jars is whole, and says for which Spark there is a connector."""

from __future__ import annotations

import re

import pytest

from onceproof.spark_checks.stores.jars import connectors as jars
from onceproof.spark_checks.stores.jars.connectors import (
    connector,
    missing_connector,
    server_jars,
)

TABLE = jars._table()
EACH = [
    pytest.param(one, id=f"{store}-{line}-{one.coordinate}")
    for store, lines in TABLE.items()
    for line, found in lines.items()
    for one in found
]


@pytest.mark.parametrize("jar", EACH)
def test_each_jar_is_named_whole(jar):
    """A coordinate of three parts, and a SHA-256."""
    assert re.fullmatch(r"[\w.-]+:[\w.-]+:[\w.-]+", jar.coordinate)
    assert re.fullmatch(r"[0-9a-f]{64}", jar.sha256)


def test_a_coordinate_has_one_checksum():
    """Lines of Spark share jars."""
    seen = {}
    for param in EACH:
        [jar] = param.values
        assert seen.setdefault(jar.coordinate, jar.sha256) == jar.sha256


def spark(monkeypatch, version):
    """Let a version of PySpark be the one that is installed."""
    monkeypatch.setattr(jars, "versions_of", lambda name: {name: version})


@pytest.mark.parametrize("store", sorted(TABLE))
def test_a_spark_without_a_connector_is_said_in_one_sentence(monkeypatch, store):
    """With the lines of Spark that there is one for."""
    spark(monkeypatch, "9.7.1")

    [sentence] = missing_connector(store)

    assert connector(store) == ()
    assert sentence.startswith(
        f"there is no {store} connector for PySpark 9.7.1: install "
    )
    assert re.search(r"install \d\.\d+", sentence)


@pytest.mark.parametrize("store", sorted(TABLE))
def test_a_spark_with_a_connector_lacks_nothing(monkeypatch, store):
    """The third part of a version does not matter."""
    for line in (line for line in TABLE[store] if line[0].isdigit()):
        spark(monkeypatch, f"{line}.99")

        assert missing_connector(store) == ()
        assert connector(store) == TABLE[store][line]


def test_without_pyspark_that_is_what_is_missing(monkeypatch):
    """And not a connector for no version."""
    spark(monkeypatch, jars.MISSING)

    assert missing_connector("kafka") == (
        "PySpark is missing: pip install 'onceproof[spark]'",
    )


def test_a_server_has_its_jars():
    """They are those that it runs with, not those of a connector."""
    found = {jar.coordinate.split(":")[1] for jar in server_jars("kafka", "broker")}

    assert {"kafka_2.13", "kafka-server", "kafka-clients"} <= found
