"""Which code has faults injected: the user's own, and packages that it calls."""

from __future__ import annotations

import itertools
import linecache
import os
import sys
import sysconfig
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path, PurePath
from types import BuiltinFunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.inject.tracing.unfollowed_packages import named

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

LEFT_OUT = "left out by code="
COMPILED = "compiled code"
GENERATED = "generated code, which has no file"
ARCHIVED = "in an archive; unpack it to have faults injected"
NO_SOURCE = "its source is missing"
_SITES = ("site-packages", "dist-packages")
_ENGINE = ("pyspark", "py4j", "onceproof")
_ENGINE_ARCHIVES = ("pyspark.zip", "py4j-")
_STANDARD = tuple(
    PurePath(os.path.realpath(sysconfig.get_path(name)))
    for name in ("stdlib", "platstdlib")
)
_OURS = PurePath(os.path.realpath(__file__)).parents[2]
_DEEPEST = 3


@dataclass(frozen=True)
class Judgement:
    """Whether faults are injected into a module, and if not, why."""

    follows: bool
    """Whether its lines are followed."""
    package: str = ""
    """The name of the package in reports."""
    why: str = ""
    """Why it is not followed; empty for Python's own code and Spark's, which no report
    lists."""
    shown: str = ""
    """The name of the file in reports."""
    installed: bool = False
    """Whether it is an installed package that the user's code calls."""
    standard: bool = False
    """Whether it is Python's own."""


_PYTHON = Judgement(follows=False, standard=True)
_SPARK = Judgement(follows=False)


def is_ours(file: str) -> bool:
    """Return whether a file is part of what injects the faults."""
    return PurePath(os.path.realpath(file)).is_relative_to(_OURS)


class Code:
    """Decides whether faults are injected at the lines of a module.

    ``roots`` are the folders and files of the user's own code, installed packages below
    them apart. ``words`` name packages and paths that are followed besides; those with
    a ``-`` in front are left out. The most exact word counts, and a path is more exact
    than a name.
    """

    def __init__(self, roots: tuple[str, ...], words: tuple[str, ...] = ()) -> None:
        """Take what is the user's own, and what is named besides."""
        self._roots = tuple(PurePath(os.path.realpath(root)) for root in roots)
        self._words = tuple(map(_Word, words))
        self._known: dict[tuple[str, str], Judgement] = {}

    def judge(self, file: str, module: str) -> Judgement:
        """Judge the code of a ``module`` that lies in a ``file``."""
        found = self._known.get((file, module))
        if found is None:
            found = self._known[file, module] = self._judged(file, module)
        return found

    def _judged(self, file: str, module: str) -> Judgement:
        top = module.partition(".")[0]
        if top in _ENGINE:
            return _SPARK
        if file.startswith("<") or not Path(file).is_file():
            return self._fileless(file, module)
        path = PurePath(os.path.realpath(file))
        root = self._rooted(file)
        site = _inside(path, _SITES)
        if site is None and any(path.is_relative_to(s) for s in _STANDARD):
            return _PYTHON
        dotted = _dotted(path, site) if site is not None else module
        top = dotted.partition(".")[0]
        shown = _shown(path, root, site, dotted)
        if top in _ENGINE or path.is_relative_to(_OURS):
            return _SPARK
        word = self._word(path, dotted)
        if word is not None and word.leaves_out:
            return Judgement(follows=False, package=top, why=LEFT_OUT, shown=shown)
        if root is not None:
            return Judgement(follows=True, package=top, shown=shown)
        if word is None:
            package, what = named(dotted)
            if what:
                return Judgement(follows=False, package=package, why=what, shown=shown)
        installed = word is None
        return Judgement(follows=True, package=top, shown=shown, installed=installed)

    def _rooted(self, file: str) -> PurePath | None:
        """Return the user's root that a file lies below, and in no package there."""
        path = PurePath(os.path.realpath(file))
        for root in self._roots:
            if path.is_relative_to(root):
                inner = path.relative_to(root).parts
                library = any(
                    one == "lib" and two.startswith("python")
                    for one, two in itertools.pairwise(inner)
                )
                if not library and not set(inner) & set(_SITES):
                    return root
        return None

    def _fileless(self, file: str, module: str) -> Judgement:
        """Judge code that is in no file of its own."""
        top = module.partition(".")[0]
        parts = PurePath(file).parts
        if any(part.startswith(_ENGINE_ARCHIVES) for part in parts):
            return _SPARK
        if _is_python(top) or file.startswith("<frozen") or _made_by_python(module):
            return _PYTHON
        package, what = named(module)
        if what:
            return Judgement(follows=False, package=package, why=what)
        if any(parent.is_file() for parent in Path(file).parents):
            return Judgement(follows=False, package=top, why=ARCHIVED)
        if linecache.getlines(file):
            # A notebook's cell: its text is known, whatever file it names.
            return Judgement(follows=True, package=top, shown=PurePath(file).name)
        why = GENERATED if file.startswith("<") else NO_SOURCE
        return Judgement(follows=False, package=top or file, why=why)

    def _word(self, path: PurePath, dotted: str) -> _Word | None:
        """Find the most exact word for a module, if any."""
        fitting = [word for word in self._words if word.fits(path, dotted)]
        return max(fitting, key=lambda word: word.exactness, default=None)


class _Word:
    """A word of ``code=``: a package's dotted name, or a path; with ``-`` in front."""

    def __init__(self, text: str) -> None:
        self.leaves_out = text.startswith("-")
        self._text = text.removeprefix("-")
        self._path = PurePath(self._text) if self._text.startswith(os.sep) else None

    @property
    def exactness(self) -> tuple[int, int, int]:
        parts = len(self._path.parts if self._path else self._text.split("."))
        return int(self._path is not None), parts, int(self.leaves_out)

    def fits(self, path: PurePath, dotted: str) -> bool:
        if self._path is not None:
            return path.is_relative_to(self._path)
        return f"{dotted}.".startswith(f"{self._text}.")


def called_of(frame: FrameType) -> Iterator[tuple[str, str]]:
    """Yield the modules, by name and file, of what a function has at hand and may call.

    Compiled code makes no frames: it is found by the values of the function's names
    when the function returns.
    """
    names = frame.f_code.co_names
    values = [frame.f_globals[name] for name in names if name in frame.f_globals]
    values += list(frame.f_locals.values())
    for value in values:
        yield from _modules(value, names, _DEEPEST)


def _modules(
    value: object, names: tuple[str, ...], deep: int
) -> Iterator[tuple[str, str]]:
    kind: Any = type(value)
    if issubclass(kind, ModuleType):
        held = vars(value)
        yield str(held.get("__name__", "")), str(held.get("__file__") or "")
        if deep and not _is_python(str(held.get("__name__", "")).partition(".")[0]):
            for name in names:
                if name in held:
                    yield from _modules(held[name], names, deep - 1)
        return
    if issubclass(kind, type | BuiltinFunctionType):
        kind = value
    owner = getattr(kind, "__module__", None)
    module = sys.modules.get(owner) if isinstance(owner, str) else None
    if module is not None:
        yield str(owner), str(vars(module).get("__file__") or "")


def outside(module: str, file: str, code: Code) -> tuple[str, str]:
    """Return which code that makes no frames is not followed, and why; or nothing."""
    top = module.partition(".")[0]
    if not top or top in _ENGINE or _is_python(top):
        return "", ""
    package, what = named(module)
    if file.endswith(tuple(EXTENSION_SUFFIXES)):
        if any(PurePath(file).is_relative_to(s) for s in _STANDARD) and not what:
            inside = _inside(PurePath(os.path.realpath(file)), _SITES)
            if inside is None:
                return "", ""
        return package or top, what or COMPILED
    if what and file and not code.judge(file, module).follows:
        return package, what
    return "", ""


def _is_python(top: str) -> bool:
    return top in sys.stdlib_module_names or top in sys.builtin_module_names


def _made_by_python(module: str) -> bool:
    """Return whether a module's name is one that Python makes up: a named tuple's."""
    return module.startswith("namedtuple_")


def _inside(path: PurePath, names: tuple[str, ...]) -> int | None:
    """Return how many parts of a path come before what lies in such a folder."""
    found = [at for at, part in enumerate(path.parts) if part in names]
    return found[-1] + 1 if found else None


def _dotted(path: PurePath, site: int) -> str:
    """Return the name of the module of a file in a folder of packages."""
    inner = [*path.parts[site:-1], path.stem]
    return ".".join(inner[:-1] if inner[-1] == "__init__" and inner[1:] else inner)


def _shown(path: PurePath, root: PurePath | None, site: int | None, dotted: str) -> str:
    """Name a file in a report, as seen from where it belongs."""
    if root is not None:
        return str(path.relative_to(root)) if path != root else path.name
    if site is not None:
        return str(PurePath(*path.parts[site:]))
    depth = len(dotted.split(".")) + (path.stem == "__init__")
    tail = PurePath(*path.parts[-depth:])
    fits = dotted.split(".") == [*tail.parts[:-1], tail.stem]
    return str(tail) if fits or path.stem == "__init__" else path.name
