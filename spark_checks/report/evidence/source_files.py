"""The files of a sink's code: its own, and those of its project that it imports.

They are found by reading, without running anything: the same on any machine. What is
installed, imported under a name that is worked out as the code runs, or found by a path
that code adds to ``sys.path``, is not seen.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.properties.evidence.fingerprints import of_file
from onceproof.spark_checks.report.evidence.pythonpath import pythonpath
from onceproof.spark_checks.sinks import reference
from onceproof.spark_checks.sinks.reference import every_reference_sink

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.spark_checks.sinks.interface import ModelledSink

_SHELF = "onceproof.spark_checks.sinks.reference"
_OWN = "onceproof"


def known_sinks() -> dict[str, ModelledSink]:
    """Return the reference sinks, by name; none where there is no PySpark."""
    try:
        return every_reference_sink()
    except ImportError:
        return {}


def sources_of(subject: str, root: Path) -> dict[str, str]:
    """Hash the files of a sink's code, as they are now."""
    path, sign, _ = subject.partition("::")
    if sign:
        return of_project(root / path, root)
    known = known_sinks()
    return of_reference(known[subject]) if subject in known else {}


def near(path: str, root: Path) -> str:
    """Return a path as seen from the root; of what lies elsewhere the name alone."""
    if not path:
        return ""
    real, top = os.path.realpath(path), os.path.realpath(root)
    inside = os.path.commonpath([real, top]) == top
    return Path(os.path.relpath(real, top)).as_posix() if inside else Path(real).name


def as_seen_from(root: Path, text: str) -> str:
    """Leave out of a text where on this machine the project lies."""
    return text.replace(f"{root}{os.sep}", "")


def of_reference(sink: ModelledSink) -> dict[str, str]:
    """Hash the files of a reference sink, by their place in the package."""
    shelf = Path(reference.__file__).parent
    found: dict[str, str] = {}
    waiting = [sink.build.__module__]
    while waiting:
        path = _on_shelf(waiting.pop(), shelf)
        place = path and f"spark_checks/sinks/reference/{path.relative_to(shelf)}"
        if path is None or place in found:
            continue
        found[str(place)] = of_file(path)
        waiting += _imports(path)
    return dict(sorted(found.items()))


def _on_shelf(name: str, shelf: Path) -> Path | None:
    """Find the file of a module there, or of the module that has a name in it."""
    if not name.startswith(f"{_SHELF}."):
        return None
    parts = name.removeprefix(f"{_SHELF}.").split(".")
    for end in range(len(parts), 0, -1):
        path = shelf.joinpath(*parts[:end]).with_suffix(".py")
        if path.is_file():
            return path
    return None


def of_project(file: Path, root: Path) -> dict[str, str]:
    """Hash a file and what it imports of its project, by their place below ``root``.

    A file that lies elsewhere has no imports followed.
    """
    file, root = file.resolve(), root.resolve()
    if not file.is_relative_to(root):
        return {file.name: of_file(file)}
    inside = [folder for folder in file.parents if folder.is_relative_to(root)]
    added = [place for folder in inside for place in pythonpath(folder)]
    found: dict[str, str] = {}
    waiting = [file]
    while waiting:
        path = waiting.pop()
        place = path.relative_to(root).as_posix()
        if place not in found:
            found[place] = of_file(path)
            for name in _imports(path):
                if name.partition(".")[0] != _OWN:
                    waiting += _files(name, path, root, added)
    return dict(sorted(found.items()))


def _imports(path: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports; relative ones begin with dots."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            joint = "" if base.endswith(".") else "."
            yield from (f"{base}{joint}{alias.name}" for alias in node.names)


def _files(name: str, importer: Path, root: Path, added: list[Path]) -> list[Path]:
    """Find the files of a dotted name, below the root of a project.

    Of one name in several places all may be meant that lie in an ``added`` one.
    """
    dots = len(name) - len(name.lstrip("."))
    parts = name.lstrip(".").split(".") if name.strip(".") else []
    if dots:
        return _at(importer.parents[dots - 1], parts, root)
    places = [p for p in importer.parents if p.is_relative_to(root)]
    found = (_at(place, parts, root) for place in (*places, root / "src"))
    first = next(filter(None, found), [])
    return [*first, *(path for place in added for path in _at(place, parts, root))]


def _at(place: Path, parts: list[str], root: Path) -> list[Path]:
    """Find a module in a folder, with the packages that it is imported through."""
    found = []
    for depth in range(len(parts) + 1):
        inner = place.joinpath(*parts[:depth])
        if depth and inner.with_suffix(".py").is_file():
            found.append(inner.with_suffix(".py"))
        elif (depth or not parts) and (inner / "__init__.py").is_file():
            found.append(inner / "__init__.py")
    return [path.resolve() for path in found if path.resolve().is_relative_to(root)]
