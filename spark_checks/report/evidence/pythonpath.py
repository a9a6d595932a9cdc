"""Where a project's modules lie, by ``pythonpath`` of pytest's configuration."""

from __future__ import annotations

import configparser
import shlex
import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_TABLES = {
    "pytest.toml": ("pytest",),
    ".pytest.toml": ("pytest",),
    "pyproject.toml": ("tool.pytest", "tool.pytest.ini_options"),
    "pytest.ini": ("pytest",),
    ".pytest.ini": ("pytest",),
    "tox.ini": ("pytest",),
    "setup.cfg": ("tool:pytest",),
}
_KEY = "pythonpath"


def pythonpath(folder: Path) -> list[Path]:
    """List the folders that the files of a folder put first in ``sys.path``.

    pytest heeds one of the files; all are read here. What cannot be read says nothing.
    """
    found: list[Path] = []
    for name, tables in _TABLES.items():
        for table in tables:
            found += [folder / one for one in _stated(folder / name, table)]
    return list(dict.fromkeys(found))


def _stated(file: Path, table: str) -> list[str]:
    try:
        text = file.read_text(encoding="utf-8")
        value = _toml(text, table) if file.suffix == ".toml" else _ini(text, table)
        if isinstance(value, str):
            return shlex.split(value)
    except (OSError, ValueError, configparser.Error):
        return []
    listed = value if isinstance(value, list) else []
    return [one for one in listed if isinstance(one, str)]


def _toml(text: str, table: str) -> Any:
    held: Any = tomllib.loads(text)
    for word in (*table.split("."), _KEY):
        held = held.get(word) if isinstance(held, dict) else None
    return held


def _ini(text: str, table: str) -> Any:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    return parser.get(table, _KEY, fallback="")
