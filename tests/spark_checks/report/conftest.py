"""A project with a sheet, which the tests of the sheet and of its evidence change."""

from __future__ import annotations

import pytest

from tests.spark_checks.projects import made, run


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Make a project with a sink, its evidence, and its sheet."""
    made(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run("check", "two-phase-commit", "--evidence").exit_code == 0
    assert run("guarantees", "--output", "GUARANTEES.md").exit_code == 0
    return tmp_path
