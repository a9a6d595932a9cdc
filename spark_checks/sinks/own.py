"""A user's own sink: nothing is known of it but where its code lies."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.loading import load
from onceproof.spark_checks.sinks.interface import Reference
from onceproof.spark_checks.sinks.user_code import UserCode

if TYPE_CHECKING:
    from onceproof.spark_checks.sinks.interface import Build, UnderTest

_PARTS = ("write", "writer", "name", "start", "run")
_ENGINE = ("pyspark", "onceproof", "builtins")


def own_sink(build: Build, code: Path, *, allowed: tuple[str, ...] = ()) -> Reference:
    """Describe a sink of which nothing is known but where its code lies.

    Its name is the file and the function that builds it, by which it can be found
    again; or that of the function alone, where that is made inside another. It may
    write to its target, and to the places that it is ``allowed``.
    """
    plain: Any = build
    while isinstance(plain, functools.partial):
        plain = plain.func
    name = getattr(plain, "__qualname__", type(plain).__qualname__)
    file = _file_of(plain)
    if "<" not in name and file and plain is build:
        name = f"{os.path.relpath(file)}::{name}"
    folders = (str(code.resolve()), *([file] if file else []))
    places = tuple(_place(one) for one in allowed)
    return Reference(name, build, UserCode, frozenset(), code=folders, allowed=places)


def with_code_of(sink: Reference, under_test: UnderTest) -> Reference:
    """Add the places of the code of what is under test: it may be installed."""
    found = list(sink.code)
    for part in _PARTS:
        what = getattr(under_test, part, None)
        while isinstance(what, functools.partial):
            what = what.func
        if what is None or isinstance(what, str):
            continue
        owner = what if callable(what) and hasattr(what, "__module__") else type(what)
        top = str(getattr(owner, "__module__", "")).partition(".")[0]
        package = getattr(sys.modules.get(top), "__path__", None)
        if top in _ENGINE:
            continue
        _travels(owner)
        places = [*package] if package else [_file_of(owner)]
        found += [place for place in places if place and place not in found]
    return Reference(**{**vars(sink), "code": tuple(found)})


def _travels(owner: Any) -> None:
    """See that code reaches Spark's workers whose module they could not import."""
    pickle: Any = importlib.import_module("pyspark.cloudpickle")
    module = sys.modules.get(getattr(owner, "__module__", ""))
    file = getattr(module, "__file__", None)
    if module is None or file is None or module.__name__ == "__main__":
        return
    spec = PathFinder.find_spec(module.__name__.partition(".")[0], None)
    places = (
        [spec.origin or "", *(spec.submodule_search_locations or ())] if spec else []
    )
    if not any(file.startswith(place) for place in places if place):
        pickle.register_pickle_by_value(module)


def find_sink(name: str, code: Path, *, allowed: tuple[str, ...] = ()) -> Reference:
    """Find a sink by its name again: a file and a function of it.

    Raises ``UsageError`` where there is none.
    """
    path, _, function = name.partition("::")
    build = getattr(load(Path(path)), function, None)
    if not callable(build):
        message = f"{path} has no function {function!r} any more"
        raise UsageError(message)
    return own_sink(build, code, allowed=allowed)


def _file_of(what: Any) -> str:
    try:
        file = inspect.getsourcefile(what if callable(what) else type(what))
    except TypeError:
        return ""
    return str(Path(file).resolve()) if file else ""


def _place(text: str) -> str:
    """Give a path as it really is; what is no path is an address, and stays."""
    path = str(text)
    return os.path.realpath(path) if path.startswith(("/", "./", "../")) else path
