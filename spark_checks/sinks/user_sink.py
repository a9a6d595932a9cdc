"""A user's own sink: nothing is known of it but where its code lies."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.loading import load
from onceproof.spark_checks.sinks.allowed_places import is_path, path_of
from onceproof.spark_checks.sinks.interface import ModelledSink
from onceproof.spark_checks.sinks.user_code_model import UserCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.spark_checks.sinks.interface import Build, UnderTest
    from onceproof.spark_checks.stores.interface import SinkStore

_PARTS = ("write", "writer", "name", "start", "run")
_ENGINE = ("pyspark", "onceproof", "builtins")


def own_sink(
    build: Build,
    code: Path,
    *,
    allowed: tuple[str, ...] = (),
    named: Sequence[str] = (),
    store: SinkStore | None = None,
) -> ModelledSink:
    """Describe a sink by the folders of its code alone.

    Its name is the file and the function that builds it, by which it can be found
    again; or that of the function alone, where that is made inside another. It may
    write to its target, and to the places that it is ``allowed``. ``named`` are
    packages and paths, seen from ``code``, that count as its code besides. Each run
    gets a place of its own in the ``store``.
    Raises ``UsageError`` for one that does not exist.
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
    words = tuple(_word(one, code) for one in named)
    return ModelledSink(
        name,
        build,
        UserCode,
        frozenset(),
        code=folders,
        named=words,
        allowed=places,
        store=store,
    )


def with_code_of(sink: ModelledSink, under_test: UnderTest) -> ModelledSink:
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
        travels(owner)
        places = [*package] if package else [_file_of(owner)]
        found += [place for place in places if place and place not in found]
    return ModelledSink(**{**vars(sink), "code": tuple(found)})


def has_code(under_test: UnderTest) -> bool:
    """Return whether code of the user's own is called for each batch, row or task.

    A function that starts a query may leave all else to Spark.
    """
    given = (getattr(under_test, part, None) for part in _PARTS if part != "start")
    return any(what is not None and not isinstance(what, str) for what in given)


def travels(owner: Any) -> None:
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
    if not any(Path(file).is_relative_to(place) for place in places if place):
        pickle.register_pickle_by_value(module)


def find_sink(
    name: str, code: Path, *, allowed: tuple[str, ...] = (), named: Sequence[str] = ()
) -> ModelledSink:
    """Find a sink by its name again: a file and a function of it.

    Raises ``UsageError`` where there is none.
    """
    path, _, function = name.partition("::")
    build = getattr(load(Path(path)), function, None)
    if not callable(build):
        message = f"{path} has no function {function!r} any more"
        raise UsageError(message)
    return own_sink(build, code, allowed=allowed, named=named)


def _word(given: str, root: Path) -> str:
    """Read a package or a path of ``code=``; a ``-`` in front leaves it out.

    Raises ``UsageError`` for what does not exist, and for Python and Spark.
    """
    sign, text = ("-", given[1:]) if given.startswith("-") else ("", given)
    if os.sep in text or text.startswith((".", "~")) or text.endswith(".py"):
        path = Path(root, Path(text).expanduser())
        if not path.exists():
            message = f"code= names {text!r}, and there is no such path below {root}"
            raise UsageError(message)
        return f"{sign}{path.resolve()}"
    top = text.partition(".")[0]
    if not all(part.isidentifier() for part in text.split(".")):
        message = (
            f"code= names {text!r}, which is no package; help: give the name that is "
            f"imported, or a path with a {os.sep!r} in it"
        )
        raise UsageError(message)
    if top in (*_ENGINE, "py4j") or top in sys.stdlib_module_names:
        message = (
            f"code= names {text!r}: no faults are injected at lines of Python or "
            "Spark; help: name a package of your own, or one that you installed"
        )
        raise UsageError(message)
    if top not in sys.modules and importlib.util.find_spec(top) is None:
        message = (
            f"code= names {text!r}, and no such package can be imported; help: a path "
            f"has a {os.sep!r} in it, such as .{os.sep}{text}"
        )
        raise UsageError(message)
    return given


def _file_of(what: Any) -> str:
    try:
        file = inspect.getsourcefile(what if callable(what) else type(what))
    except TypeError:
        return ""
    return str(Path(file).resolve()) if file else ""


def _place(text: str) -> str:
    """Return a path as it really is; what is no path is an address, and stays."""
    place = str(text)
    return path_of(place) if is_path(place) else place
