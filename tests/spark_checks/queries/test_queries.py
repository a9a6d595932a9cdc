"""A query is one of the catalogue, of a module or of a file, and its fields fit."""

from __future__ import annotations

import json
import sys

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.grid.grid_query import short
from onceproof.spark_checks.queries import configuration
from onceproof.spark_checks.queries.catalogue import every_query, named
from onceproof.spark_checks.queries.configuration import parsed
from onceproof.spark_checks.queries.query_spec import OutputMode, QuerySpec

MODULE = """
from onceproof.spark_checks.queries.query_spec import QuerySpec


def run(events):
    return events


QUERY = QuerySpec("mine", run, mode="update", key="id")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with a module of its own."""
    (tmp_path / "mine_of_a_test.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    yield tmp_path
    sys.modules.pop("mine_of_a_test", None)


@pytest.mark.parametrize("text", ["mine_of_a_test:QUERY", "mine_of_a_test.py:QUERY"])
def test_a_query_is_found_in_the_current_folder(folder, text):
    query = named(text)

    assert (query.name, query.mode, query.key) == ("mine", OutputMode.UPDATE, ("id",))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "mine_of_a_test:other",
            "there is no query mine_of_a_test:other; help: mine_of_a_test has QUERY",
        ),
        (
            "mine_of_a_test.py:other",
            "no query mine_of_a_test.py:other; help: mine_of_a_test.py has QUERY",
        ),
        ("json:loader", "there is no query json:loader; json has no QuerySpec"),
        ("mine_of_a_test.py", "help: write mine_of_a_test.py:NAME"),
        ("no_such_module:QUERY", "help: write FILE.py:NAME for a file elsewhere"),
        ("no_such.module:QUERY", "help: write FILE.py:NAME for a file elsewhere"),
        ("no_such_module:QUERY", "there is no query no_such_module:QUERY"),
        (":", "there is no query :"),
        ("no_such_file.py:QUERY", "there is no file no_such_file.py"),
        (
            "mine_of_a_test:run",
            'is no QuerySpec, but function; wrap it: QuerySpec("run',
        ),
        ("mapp", "did you mean 'map'"),
    ],
)
def test_what_is_no_query_is_refused_with_help(folder, text, says):
    with pytest.raises(UsageError, match=says.replace("(", r"\(")):
        named(text)


def test_a_mode_that_is_none_is_refused():
    """As a text it would be taken for none of the three."""
    with pytest.raises(
        UsageError, match="mode is one of append, update, complete, not"
    ):
        QuerySpec("wrong", lambda events: events, mode="updat")


def test_a_query_that_a_later_version_runs_is_refused_here(monkeypatch):
    """And one of this version is not."""
    rocksdb, query = parsed("provider=rocksdb"), named("transform-totals")
    assert rocksdb.refusal(query) == ""
    monkeypatch.setattr(configuration, "versions_of", lambda *_: {"pyspark": "4.0.5"})

    assert rocksdb.refusal(query) == "its operator is in PySpark 4.1 and later"
    assert rocksdb.refusal(named("transform-totals-pandas")) == ""
    assert rocksdb.refusal(named("total-update")) == ""


def test_each_query_has_the_name_it_is_known_by():
    assert all(query.name == name for name, query in every_query().items())


def test_a_cause_that_is_a_traceback_is_named_by_its_end():
    """Its first line says only that there is one."""
    cause = ValueError(
        "Traceback (most recent call last):\n  File\nKeyError: 'total'\n"
    )
    error = RuntimeError("the query failed")
    error._cause = cause

    assert "the query failed: KeyError: 'total'" in short(error)


def test_an_error_of_a_callback_is_named_by_the_end_of_its_traceback():
    """It begins in the midst of a line, and Java's error has a line of its own."""
    error = RuntimeError(
        "[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred. Reason: Traceback "
        "(most recent call last):\n"
        '  File "sink.py", line 1, in write\n'
        "    batch.collect()\n"
        "py4j.protocol.Py4JJavaError: An error occurred while calling o1.collect.\n"
        ": org.apache.spark.SparkException: Job aborted\n"
        "\tat org.apache.spark.Job.run\n"
    )

    found = json.loads(short(error))

    assert found["conditions"] == ["FOREACH_BATCH_USER_FUNCTION_ERROR"]
    assert found["message"].endswith(
        "Py4JJavaError: An error occurred while calling o1.collect. "
        ": org.apache.spark.SparkException: Job aborted"
    )


@pytest.mark.parametrize(
    ("end", "named_as"),
    [
        ("\nKeyError: 'x'\n=== Streaming Query ===\n", "KeyError: 'x'"),
        ("  | ExceptionGroup: two (2 errors)\n=== Streaming Query ===\n", "recent"),
        ("  a\n\n\n\n" * 2000 + "  cut", "recent"),
    ],
)
def test_a_traceback_without_a_plain_end_takes_no_time(end, named_as):
    text = f"the query failed: Traceback (most recent call last):\n  File\n{end}"

    message = json.loads(short(RuntimeError(text)))["message"]

    assert named_as in message
    assert "===" not in message
