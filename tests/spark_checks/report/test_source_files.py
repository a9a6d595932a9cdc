"""A sink's code is its own file and what that imports of its project."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from onceproof.spark_checks.report.evidence import source_files
from onceproof.spark_checks.report.evidence.records import subject_of
from onceproof.spark_checks.sinks.reference import reference_sinks


def test_the_sources_of_reference_sinks_are_their_own_files():
    """With those of the shelf that they import, and not the engine's."""
    found = source_files.of_reference(reference_sinks()["datasource-unprotected"])

    assert sorted(found) == [
        f"spark_checks/sinks/reference/{name}.py"
        for name in ("sqlite", "staged_files", "staged_unprotected")
    ]
    assert all(len(value) == 64 for value in found.values())


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import helper", ["helper.py"]),
        ("from helper import x", ["helper.py"]),
        ("from . import helper", ["package/__init__.py", "package/helper.py"]),
        ("from .helper import x", ["package/helper.py"]),
        ("import package.deep.inner", ["package/deep/inner.py"]),
        ("from package.deep import inner", ["package/deep/inner.py"]),
        ("def f():\n    import helper", ["helper.py"]),
        ("import os, json, onceproof", []),
        ("from laid import out", ["src/laid.py"]),
        ("import helper as ours\nimport helper", ["helper.py"]),
    ],
)
def test_imports_of_a_project_are_followed(tmp_path, line, found):
    """As they are written: absolute, relative, inside functions, in packages."""
    deep = tmp_path / "package" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "src").mkdir()
    for place in ("helper.py", "src/laid.py", "package/__init__.py"):
        (tmp_path / place).write_text("")
    (tmp_path / "package" / "helper.py").write_text("")
    (deep / "inner.py").write_text("")
    name = "package/sink.py" if line.startswith("from .") else "sink.py"
    (tmp_path / name).write_text(line)

    result = source_files.of_project(tmp_path / name, tmp_path)

    wanted = {name, *found}
    if any(place.startswith("package/deep") for place in found):
        wanted.add("package/__init__.py")
    assert set(result) == wanted


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["lib"]'),
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = "other lib"'),
        ("pyproject.toml", '[tool.pytest]\npythonpath = ["lib"]'),
        ("pytest.toml", '[pytest]\npythonpath = ["lib"]'),
        ("pytest.ini", "[pytest]\npythonpath = other lib"),
        ("tox.ini", "[pytest]\npythonpath =\n  lib\n  other"),
        ("setup.cfg", "[tool:pytest]\npythonpath = lib"),
    ],
)
def test_pytests_pythonpath_is_followed(tmp_path, name, text):
    """As each of its files states it, with what those modules import in turn."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "helper.py").write_text("import deeper")
    (tmp_path / "lib" / "deeper.py").write_text("")
    (tmp_path / "sink.py").write_text("import helper")
    (tmp_path / name).write_text(text)

    lines = source_files.of_project(tmp_path / "sink.py", tmp_path)

    assert sorted(lines) == ["lib/deeper.py", "lib/helper.py", "sink.py"]


@pytest.mark.parametrize("text", ["[", "pythonpath", "[pytest]\npythonpath = '"])
def test_a_configuration_that_cannot_be_read_says_nothing(tmp_path, text):
    """pytest says it better."""
    for name in ("pyproject.toml", "pytest.ini", "setup.cfg"):
        (tmp_path / name).write_text(text)
    (tmp_path / "sink.py").write_text("import helper")

    assert sorted(source_files.of_project(tmp_path / "sink.py", tmp_path)) == [
        "sink.py"
    ]


@pytest.mark.parametrize(
    ("name", "code", "subject"),
    [
        ("foreach-batch-append", (), "foreach-batch-append"),
        ("elsewhere.py::orders", (".", "sinks/orders.py"), "sinks/orders.py::orders"),
        ("made.<locals>.orders", (".", "t.py"), "t.py::made.<locals>.orders"),
        ("made.<locals>.orders", (".",), "made.<locals>.orders"),
        ("orders", (".", "/elsewhere/t.py"), "t.py::orders"),
    ],
)
def test_sinks_are_named_as_seen_from_the_project(tmp_path, name, code, subject):
    """Wherever the test runs; no path of the machine gets into a record."""
    places = tuple(str(tmp_path / place) for place in code)

    report = SimpleNamespace(sink=SimpleNamespace(name=name, code=places))

    assert subject_of(report, tmp_path) == subject
