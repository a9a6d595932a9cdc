"""A project with a sheet, which the tests of the sheet and of its evidence change."""

from __future__ import annotations

import contextlib
import shutil
import sys

import pytest

from onceproof.spark_checks.sinks import reference
from tests.spark_checks.projects import made, run


@pytest.fixture(scope="session")
def with_a_sheet(tmp_path_factory):
    """Make a project with a sink, its evidence, and its sheet; nothing changes it."""
    folder = tmp_path_factory.mktemp("with_a_sheet")
    made(folder)
    with contextlib.chdir(folder):
        assert run("check", "two-phase-commit", "--evidence").exit_code == 0
        assert run("guarantees", "--output", "GUARANTEES.md").exit_code == 0
    return folder


@pytest.fixture
def project(with_a_sheet, tmp_path, monkeypatch):
    """Give a project with a sink, its evidence, and its sheet."""
    shutil.copytree(with_a_sheet, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def without_duckdb(monkeypatch):
    """Let the package duckdb be absent, which reference sinks need."""
    shelf = f"{reference.__name__}.duckdb."
    for name in [name for name in sys.modules if name.startswith(shelf)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "duckdb", None)
