"""The wheel holds what the folders hold, and the lower floors do without Spark."""

from __future__ import annotations

import ast
import functools
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("model", "properties", "spark_checks")


def test_the_wheel_holds_every_module(tmp_path):
    """A package that is missing from pyproject.toml would be missing silently."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    options = ["--no-build-isolation", "--wheel-dir", str(tmp_path), str(ROOT)]

    # What an earlier build left there would be packed as well.
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)
    subprocess.run([*command, *options], check=True)

    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        packed = {n for n in wheel.namelist() if n.startswith("onceproof/")}
    there = {
        f"onceproof/{path.relative_to(ROOT)}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.suffix in (".py", ".java", ".js", ".css", ".html", ".toml")
        or path.name == "py.typed"
    }
    assert packed == there


def test_model_and_properties_import_no_spark():
    """They are of use where there is no Spark at all."""
    modules = [
        "onceproof." + ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for room in ROOMS[:2]
        for path in sorted((ROOT / room).rglob("*.py"))
        if path.name != "__init__.py"
    ]
    code = (
        f"import importlib, sys; [importlib.import_module(m) for m in {modules}]; "
        "sys.exit(any(m.split('.')[0] == 'pyspark' for m in sys.modules))"
    )

    status = subprocess.run([sys.executable, "-c", code], check=False).returncode

    assert status == 0


@functools.cache
def _calls():
    """List each call in the rooms: its file, the call, and the name of what is called.

    A name ends in the last two of its parts, such as ``metadata.version``.
    """
    found = []
    for path in (file for room in ROOMS for file in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = node.func.value
                name = getattr(owner, "attr", getattr(owner, "id", ""))
                called = f"{name}.{node.func.attr}"
                found.append((str(path.relative_to(ROOT)), node, called))
    return found


def _slugs(node, called):
    """Say whether a call puts something in the place of all letters but some."""
    pattern = node.args[0] if node.args else None
    texts = [
        part.value
        for part in ast.walk(pattern or node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    return called == "re.sub" and any("[^" in text for text in texts)


ONCE = {
    "the nearest of some names": (
        "model/text.py",
        lambda node, called: called.endswith("get_close_matches"),
    ),
    "a text as a name": ("model/text.py", _slugs),
    "the version of a package": (
        "model/versions.py",
        lambda node, called: called == "metadata.version",
    ),
    "a file in the place of another": (
        "model/files.py",
        lambda node, called: (
            called in ("os.replace", "os.rename", "shutil.move")
            or (called.endswith(".replace") and len(node.args) == 1)
        ),
    ),
}
"""What is written in one place, and how it is recognised anywhere else."""

# A sink under test does with its files what it likes; a folder that is kept is moved;
# Java writes the archive of its classes itself.
NOT_MEANT = {
    ("a file in the place of another", "spark_checks/sinks/reference/staged_files.py"),
    ("a file in the place of another", "spark_checks/report/counterexamples.py"),
    ("a file in the place of another", "spark_checks/cli/class_archive_training.py"),
    ("a text as a name", "model/export/tla.py"),
}


@pytest.mark.parametrize("what", ONCE)
def test_what_is_written_once_is_written_nowhere_else(what):
    """Two of a kind differ some day: one is fixed, and the other is not."""
    home, recognised = ONCE[what]

    found = {path for path, node, called in _calls() if recognised(node, called)}

    assert found - {file for kind, file in NOT_MEANT if kind == what} == {home}


def _classes():
    """Give the files of each class name in the rooms."""
    found = {}
    for path in (
        file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    return found


SHARED: dict[str, str] = {}
"""The class names that may be there twice, each with the reason."""


def test_no_two_classes_share_a_name():
    """A word has one meaning: where two classes share it, one has the wrong name."""
    shared = {name: files for name, files in _classes().items() if len(files) > 1}

    assert shared.keys() == SHARED.keys(), shared


UNCLEAR = {"told", "said"}
# A protocol's own state is named as its paper names it.
OF_PAPERS = ("tests/model/oracles/", "tests/soundness/regressions/")


def test_no_name_says_only_that_something_was_said():
    """A local name says what it holds: a sentence, the data, the counterexample."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in (*ROOMS, "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not str(path.relative_to(ROOT)).startswith(OF_PAPERS)
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef | ast.Lambda)
        for node in ast.walk(function)
        if (isinstance(node, ast.arg) and node.arg in UNCLEAR)
        or (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and node.id in UNCLEAR
        )
    ]

    assert not found
