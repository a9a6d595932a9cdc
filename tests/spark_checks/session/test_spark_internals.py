"""The installed version of PySpark has the names that replays rest on."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pyspark.errors.exceptions.base
import pytest

from onceproof.model.versions import versions_of
from onceproof.spark_checks.cli import examination
from onceproof.spark_checks.cli.ending import error_text
from onceproof.spark_checks.session import private_names
from onceproof.spark_checks.session.private_names import ERRORS_LOG, NAMES, Name

ROOT = Path(__file__).parents[3]
FILES = [
    ROOT / "spark_checks" / "session" / f"{name}_internals.py"
    for name in ("spark", "pickling")
]


@pytest.mark.parametrize("name", NAMES, ids=lambda n: f"{n.owners[0]}.{n.name}")
def test_the_installed_version_has_the_name(name):
    """A version that moves it fails here, and says what does not work without it."""
    assert name.found, f"{name.owners} has no {name.name}: {name.why}"


@pytest.mark.parametrize(
    "name",
    [
        Name("_gone", ("pyspark.core.context:SparkContext",), "a test"),
        Name("_gone", ("pyspark.no_such_module",), "a test"),
        Name("_gone", ("pyspark.sql.session:NoSuchClass",), "a test"),
        Name(
            "_gone",
            ("pyspark.sql.worker.python_streaming_sink_runner:main",),
            "a test",
            local=True,
        ),
    ],
)
def test_a_name_that_moved_is_found_missing(name, monkeypatch):
    """The table would else say of any name that it is there."""
    monkeypatch.setattr(private_names, "NAMES", (name,))

    assert not name.found
    assert private_names.missing() == [
        f"{name.owners[0]} has no _gone, without which this does not work: a test"
    ]


def test_doctor_reports_a_name_that_moved(monkeypatch):
    """Whoever has such a version learns it before a replay fails for it."""
    gone = Name("_gone", ("pyspark.daemon",), "tasks have failpoints")
    monkeypatch.setattr(private_names, "NAMES", (gone,))

    (found,) = (one for one in examination.examine() if one.name == "pyspark")

    assert "pyspark.daemon has no _gone" in found.problem


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_private_name_in_a_file_is_in_the_table(file):
    """A name that is used and not stated would be tested by nothing."""
    tree = ast.parse(file.read_text())
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
    }
    used |= {
        keyword.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if (keyword.arg or "").startswith("_")
    }
    of_the_stub = {"_sc"}

    assert used - of_the_stub <= {name.name for name in NAMES}


@pytest.mark.skipif(
    versions_of("pyspark")["pyspark"].startswith("3."),
    reason="PySpark 3 prints no errors to a log of its own",
)
def test_errors_are_printed_to_the_log_that_is_turned_off():
    """PySpark names the log in its code, and nowhere else."""
    assert ERRORS_LOG in inspect.getsource(pyspark.errors.exceptions.base)


def test_an_error_of_a_session_that_has_ended_is_described():
    """PySpark asks Java for the words of its errors, which is gone by then."""

    class OfSparkError(Exception):
        _desc = "[UNRESOLVED_COLUMN] no column colour\n'Project"

        def __str__(self):
            raise AssertionError

    text = error_text(OfSparkError())

    assert text.startswith(
        "OfSparkError: [UNRESOLVED_COLUMN] no column colour; nothing"
    )
