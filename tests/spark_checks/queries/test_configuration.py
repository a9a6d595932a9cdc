"""Configurations are data: they are read from a text, and name what differs."""

from __future__ import annotations

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.queries.catalogue import named
from onceproof.spark_checks.queries.configuration import (
    CONFIGURATIONS,
    QueryConfiguration,
    parsed,
)
from onceproof.spark_checks.queries.query_spec import OutputMode, QuerySpec

QUERY = QuerySpec("any", lambda events: events)


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_a_configuration_is_read_from_its_name(configuration):
    """So that a cell of a report can be run again."""
    assert parsed(configuration.name) == configuration


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("provder=hdfs", "provider"),
        ("provider=hdf", "provider is one of hdfs, rocksdb"),
        ("partitions=0", "a number of 1 or more"),
    ],
)
def test_a_wrong_text_is_refused(text, message):
    """It says what would be right."""
    with pytest.raises(UsageError, match=message):
        parsed(text)


def test_what_spark_does_not_run_is_refused():
    """Each with its reason."""
    update = QuerySpec("any", lambda events: events, OutputMode.UPDATE)

    assert "RocksDB" in QueryConfiguration(changelog="on").refusal(QUERY)
    assert "needs changelogs" in parsed("provider=rocksdb,format=2").refusal(QUERY)
    assert "only appends" in QueryConfiguration(sink="files").refusal(update)
    assert QueryConfiguration().refusal(QUERY) == ""


ASYNC = "source=kafka,sink=kafka,trigger=processing-time,progress=async"


@pytest.mark.parametrize(
    ("text", "query", "reason"),
    [
        (ASYNC, "map", ""),
        (ASYNC, "window-append", "for queries without state"),
        ("progress=async,trigger=processing-time", "map", "Kafka's alone"),
        ("source=kafka,sink=kafka,progress=async", "map", "not for available-now"),
        ("sink=kafka", "map", "source=kafka"),
        ("source=kafka,sink=kafka", "window-complete", "by a key"),
        ("source=kafka,sink=kafka", "total-update-two-writes", "several times"),
    ],
)
def test_what_spark_does_not_do_with_kafka_is_refused(text, query, reason):
    """Asynchronous progress above all, which is for few queries."""
    found = parsed(text).refusal(named(query))

    assert reason in found
    assert bool(reason) == bool(found)
