"""Environments of Python with one version of PySpark each, made once and kept."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "matrix"
_OF_SPARK = ("pyspark", "py4j")
_EXTRAS = "spark,delta,duckdb,iceberg,kafka,postgres,s3"
_OF_TESTS = ("hypothesis", "pytest", "pytest-xdist", "setuptools", "syrupy", "wheel")


def made(version: str) -> Path:
    """Return the ``python`` of an environment with this version of PySpark.

    It has the clients of all stores, and what the tests of the plugin need. All
    packages but PySpark are those of the lock. Raises ``CalledProcessError`` where an
    installer fails; it says why on stderr.
    """
    home = FOLDER / version
    python, ready = home / "bin" / "python", home / ".ready"
    wanted = [f"pyspark=={version}", *_OF_TESTS, "-e", f"{ROOT}[{_EXTRAS}]"]
    constraints = _constraints()
    recipe = "\n".join([*wanted, constraints])
    if not ready.exists():
        shutil.rmtree(home, ignore_errors=True)
        venv.create(home, with_pip=True)
    elif ready.read_text(encoding="utf-8") == recipe:
        return python
    limits = home / "constraints.txt"
    limits.write_text(constraints, encoding="utf-8")
    install = [*_installer(python), *wanted, "-c", str(limits)]
    subprocess.run(install, check=True, stdout=sys.stderr)
    ready.write_text(recipe, encoding="utf-8")
    return python


def _installer(python: Path) -> list[str]:
    """Return the command that installs packages; uv where it is there."""
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--quiet", "--python", str(python)]
    return [str(python), "-m", "pip", "install", "--quiet"]


def _constraints() -> str:
    """Return the versions of the lock, without those that hang on Spark's."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pinned = [line.removesuffix(" \\") for line in lines if "==" in line]
    return "\n".join(
        line for line in pinned if line.partition("==")[0] not in _OF_SPARK
    )
