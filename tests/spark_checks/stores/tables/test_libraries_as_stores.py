"""Stores that a Python library writes and reads need the library, and no jars."""

from __future__ import annotations

import pytest

from onceproof.model.versions import versions_of
from onceproof.spark_checks import DeltaRs, DuckDB, PyIceberg
from onceproof.spark_checks.stores import interface
from onceproof.spark_checks.stores.spark_needs import NO_NEEDS
from tests.spark_checks.stores.needed import needs

STORES = [
    (DuckDB(), "duckdb", "duckdb"),
    (DeltaRs(), "deltalake", "delta"),
    (PyIceberg(), "pyiceberg", "iceberg"),
]


@pytest.mark.parametrize(("store", "library", "_"), STORES)
def test_the_library_is_all_that_is_needed(store, library, _, tmp_path):
    """Its version is that of the store."""
    needs(store)

    assert store.version() == versions_of(library)[library]
    assert store.needs({}, tmp_path) == NO_NEEDS
    assert store.start(tmp_path).place("onceproof_1").path.startswith(str(tmp_path))


@pytest.mark.parametrize(("store", "library", "extra"), STORES)
def test_without_the_library_that_is_said(monkeypatch, store, library, extra):
    """With the extra that brings it."""
    monkeypatch.setattr(interface.importlib.util, "find_spec", lambda _: None)

    assert store.missing() == (
        f"{library} is missing: pip install 'onceproof[{extra}]'",
    )


def test_two_stores_of_libraries_are_never_one():
    """Else the sinks of one would have their places in the folder of the other."""
    stores = {store for store, _, _ in STORES}

    assert len(stores) == len(STORES)
    assert DuckDB() == DuckDB()
