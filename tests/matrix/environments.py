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


def made(version: str) -> Path:
    """Return the ``python`` of an environment with this version of PySpark.

    All other packages are those of the lock. Raises ``CalledProcessError`` where an
    installer fails; it says why on stderr.
    """
    home = FOLDER / version
    python, ready = home / "bin" / "python", home / ".ready"
    if not ready.exists():
        shutil.rmtree(home, ignore_errors=True)
        venv.create(home, with_pip=True)
        constraints = home / "constraints.txt"
        constraints.write_text(_constraints(), encoding="utf-8")
        wanted = [f"pyspark=={version}", "pytest", "-e", f"{ROOT}[spark]"]
        install = [*_installer(python), *wanted, "-c", str(constraints)]
        subprocess.run(install, check=True, stdout=sys.stderr)
        ready.touch()
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
