"""The wheel holds what the folders hold, and the lower floors do without Spark."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

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
        if path.suffix in (".py", ".js", ".css", ".html") or path.name == "py.typed"
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
