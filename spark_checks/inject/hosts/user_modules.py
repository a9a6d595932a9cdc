"""Where a user's modules are found in a host: in the files that the tests' process has.

pytest imports files under names that no import would find by itself.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import site
import sys
import sysconfig
import threading
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

_OURS = "onceproof"
_one_by_one = threading.Lock()


def installed_places() -> tuple[str, ...]:
    """List the folders of Python's own modules and of installed packages."""
    found = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib")}
    found |= {sysconfig.get_paths()[name] for name in ("purelib", "platlib")}
    found |= {*site.getsitepackages(), site.getusersitepackages()}
    found |= {p for p in sys.path if Path(p).name in ("site-packages", "dist-packages")}
    return tuple(f"{place.rstrip('/')}/" for place in found if place)


def user_modules() -> dict[str, str]:
    """Return the files of all modules that are here, and are nobody else's, by name.

    A package without a file has its folder, with a slash at the end.
    """
    places = installed_places()
    found = {}
    for name, module in list(sys.modules.items()):
        if name == "__main__" or name.partition(".")[0] == _OURS:
            continue
        place = _place_of(module)
        if place and not place.startswith(places):
            found[name] = place
    return found


def is_installed(name: str) -> bool:
    """Return whether a module is of a package that is installed, or Python's own.

    Nothing is run to see that. What lies elsewhere is a user's, who may not have
    imported it yet.
    """
    top = name.partition(".")[0]
    if top == _OURS or top in sys.builtin_module_names:
        return True
    try:
        spec = PathFinder.find_spec(top)
    except (ImportError, ValueError):
        return False
    if spec is None:
        return False
    found = [spec.origin or "", *(spec.submodule_search_locations or ())]
    return any(place.startswith(installed_places()) for place in found)


def _place_of(module: ModuleType | None) -> str:
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return file if file.endswith(".py") else ""
    paths = list(getattr(module, "__path__", None) or ())
    return f"{paths[0].rstrip('/')}/" if paths and isinstance(paths[0], str) else ""


class Finder(MetaPathFinder):
    """Finds modules in the files that another process had them from."""

    def __init__(self, places: Mapping[str, str]) -> None:
        """Know where each of some modules lies."""
        self._places = places

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Find a module; one that is not known is left to others."""
        del path, target
        place = self._places.get(fullname)
        if place is None:
            if any(name.startswith(f"{fullname}.") for name in self._places):
                spec = ModuleSpec(fullname, None, is_package=True)
                spec.submodule_search_locations = []
                return spec
            return None
        if place.endswith("/"):
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [place.rstrip("/")]
            return spec
        package = Path(place).name == "__init__.py"
        return importlib.util.spec_from_file_location(
            fullname,
            place,
            submodule_search_locations=[str(Path(place).parent)] if package else None,
        )


def third_party(first: str, places: Mapping[str, str]) -> frozenset[str]:
    """Name the modules that a user's module imports and that are no user's, in all.

    They are read off the text; nothing is run.
    """
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [first]
    while waiting:
        name = waiting.pop()
        place = places.get(name, "")
        if name in seen:
            continue
        seen.add(name)
        if not place.endswith(".py"):
            continue
        for imported in _imports(place, name):
            parents = imported.split(".")
            names = [".".join(parents[:n]) for n in range(1, len(parents) + 1)]
            waiting += [n for n in names if n in places]
            if names[0] not in places:
                found.add(imported)
    return frozenset(found)


def _imports(place: str, name: str) -> Sequence[str]:
    try:
        changed = Path(place).stat().st_mtime_ns
    except OSError:
        return ()
    # Python 3.11 cannot make two syntax trees at once, each in a thread.
    with _one_by_one:
        return _read(place, name, changed)


@functools.cache
def _read(place: str, name: str, changed: int) -> tuple[str, ...]:
    del changed
    try:
        tree = ast.parse(Path(place).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ()
    package = name if place.endswith("__init__.py") else name.rpartition(".")[0]
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            if base:
                found.append(base)
                found += [f"{base}.{alias.name}" for alias in node.names]
    return tuple(found)


def enter(order: Mapping[str, Any]) -> None:
    """Have this process find modules as another one does."""
    sys.path[:] = order["path"]
    sys.meta_path.insert(0, Finder(order["modules"]))
