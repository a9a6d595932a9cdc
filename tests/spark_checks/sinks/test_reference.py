"""Reference sinks are found by their files."""

from __future__ import annotations

import sys

import pytest

from onceproof.spark_checks.sinks import reference


def test_a_spark_without_data_sources_in_python_has_the_other_sinks(monkeypatch):
    every = set(reference.reference_sinks())
    monkeypatch.setitem(sys.modules, "pyspark.sql.datasource", None)
    for name in ("staged_files", "staged_unprotected"):
        monkeypatch.delitem(sys.modules, f"{reference.__name__}.{name}")

    found = set(reference.reference_sinks())

    assert every - found == {"datasource-staged", "datasource-unprotected"}


def test_any_other_module_that_is_missing_is_an_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    for name in ("sqlite", "append"):
        monkeypatch.delitem(sys.modules, f"{reference.__name__}.{name}", raising=False)

    with pytest.raises(ImportError, match="sqlite3"):
        reference.reference_sinks()
