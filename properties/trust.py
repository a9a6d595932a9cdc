"""Code that a file names is run only where it is the user's own project.

A counterexample file may come from anywhere, and it names code: a protocol's file, a
sink's function, a test. Exploring or replaying it runs that code.
"""

from __future__ import annotations

import stat
from pathlib import Path

from onceproof.model.errors import UsageError
from onceproof.model.text import printable

PROJECT = "pyproject.toml"
_INSTALLED = ("site-packages", "dist-packages", "node_modules", "__pycache__")


def project_of(start: Path) -> Path:
    """Find the folder of the project that a folder belongs to, or give that folder."""
    start = start.resolve()
    folders = (start, *start.parents)
    return next((one for one in folders if (one / PROJECT).is_file()), start)


def own_code(named: str, file: object) -> Path:
    """Find the code that a file names: a file of Python below the project's folder.

    The project's folder is the nearest one that holds a pyproject.toml, from the
    working folder upwards, or the working folder where there is none. Links are
    followed first. Raises ``UsageError`` for what lies elsewhere, for what is installed
    or hidden in the project, and where the project's folder is open to everybody.
    """
    shown = printable(named)
    root = project_of(Path.cwd())
    try:
        path = Path(named).resolve(strict=True)
        ordinary = path.is_file() and path.suffix == ".py"
    except (OSError, ValueError, RuntimeError):
        ordinary = False
    if not ordinary:
        message = (
            f"{file} names {shown}, and there is no such file of Python here; run this "
            "in its project's folder"
        )
        raise UsageError(message)
    why = ""
    if not path.is_relative_to(root):
        why = f"it lies outside of the project's folder {root}"
    elif any(_foreign(part) for part in path.relative_to(root).parts):
        why = "it is installed or hidden there, and not the project's own"
    elif root == Path(root.anchor) or root == _home() or _open_to_all(root):
        why = f"{root} is no project's folder"
    if why:
        message = (
            f"{file} names the code {shown}, which is not run: {why}; give --trust if "
            "you know it"
        )
        raise UsageError(message)
    return path


def _foreign(part: str) -> bool:
    return part.startswith(".") or part in _INSTALLED


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):
        return None


def _open_to_all(folder: Path) -> bool:
    """Return whether everybody may put files into a folder, as into /tmp."""
    return bool(folder.stat().st_mode & stat.S_IWOTH)
