"""The error that is raised in a user's code: of a kind that the code reckons with.

Code that catches ``sqlite3.Error`` is to meet such an error. It is one of a broken
environment, never of what the code finds: a row that is there already, a missing file.
"""

from __future__ import annotations

import ast
import builtins
import sys
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.failpoints.syntax import guarded_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_MESSAGE = "the sink failed here"
_BROKEN = (ConnectionError, TimeoutError)


class FailedHere(Exception):  # noqa: N818 - it stands for whatever a sink may raise
    """Is raised inside a sink's own code by a rule."""


def error_at(frame: FrameType, own: Callable[[FrameType], bool]) -> Exception:
    """Make an error that the nearest handler around a frame's line is there for.

    Only handlers in the user's ``own`` code count. One for all errors, or none at all,
    gets a plain ``FailedHere``.
    """
    outer: FrameType | None = frame
    while outer is not None:
        if own(outer):
            for kind in _caught(outer):
                found = _of_environment(kind)
                if found is not None:
                    return _made(found)
        outer = outer.f_back
    return FailedHere(_MESSAGE)


def _made(kind: type[Exception]) -> Exception:
    if kind is FailedHere:
        return FailedHere(_MESSAGE)
    try:
        error: Exception = type(kind.__name__, (FailedHere, kind), {})(_MESSAGE)
    except TypeError:
        error = kind(_MESSAGE)
    return error


def _of_environment(kind: Any) -> type[Exception] | None:
    """Give the kind of error by which an environment fails that a handler catches.

    That is an ``OSError``, or what a driver of the DB-API calls ``OperationalError``.
    """
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        return None
    if issubclass(Exception, kind):
        return FailedHere
    if issubclass(OSError, kind):
        return OSError
    if issubclass(kind, _BROKEN):
        return kind
    module = kind.__module__
    while module:
        found = getattr(sys.modules.get(module), "OperationalError", None)
        if isinstance(found, type) and issubclass(found, Exception):
            return found if issubclass(found, kind) else None
        module = module.rpartition(".")[0]
    return None


def _caught(frame: FrameType) -> Iterator[Any]:
    """Yield what is caught around a frame's line in its function, the nearest first."""
    here = frame.f_lineno
    around = [
        g
        for g in guarded_lines(frame.f_code.co_filename)
        if g.function == frame.f_code.co_name and g.first <= here <= g.last
    ]
    for guarded in sorted(around, key=lambda g: -g.first):
        for kind in guarded.kinds:
            yield from _values(kind, frame)


def _values(kind: ast.expr, frame: FrameType) -> Iterator[Any]:
    """Look up a name, a dotted name, or several."""
    if isinstance(kind, ast.Tuple):
        for one in kind.elts:
            yield from _values(one, frame)
    elif isinstance(kind, ast.Attribute):
        for owner in _values(kind.value, frame):
            yield getattr(owner, kind.attr, None)
    elif isinstance(kind, ast.Name):
        for place in (frame.f_locals, frame.f_globals, vars(builtins)):
            if kind.id in place:
                yield place[kind.id]
                return
