"""A project with a sheet, which the tests of the sheet and of its evidence change."""

from __future__ import annotations

import contextlib
import shutil

import pytest

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
