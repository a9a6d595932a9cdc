"""The error that is raised in a user's code: of a class that the code catches.

Code that catches ``sqlite3.Error`` gets such an error. It is one of a broken
environment, never of what the code finds: a duplicate row, a missing file.
"""

from __future__ import annotations

import ast
import builtins
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.inject.tracing.source_blocks import guarded_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_MESSAGE = "the sink failed here"
_BROKEN = (ConnectionError, TimeoutError)


class FailedHere(Exception):  # noqa: N818 - it may be any error of a sink
    """Raised inside a sink's own code by a rule.

    A class derived from it and from another needs no arguments of the other.
    """

    def __init__(self) -> None:
        """Take the message that all of them have."""
        Exception.__init__(self, _MESSAGE)

    def __str__(self) -> str:
        """Return the message."""
        return _MESSAGE


def error_at(frame: FrameType, own: Callable[[FrameType], bool]) -> Exception:
    """Make an error that the nearest enclosing handler catches.

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
    return FailedHere()


def _made(kind: type[Exception]) -> Exception:
    """Make an error of a kind; a plain one where nothing can be derived of the kind."""
    if kind is not FailedHere:
        with suppress(Exception):
            error: Exception = type(kind.__name__, (FailedHere, kind), {})()
            return error
    return FailedHere()


def _of_environment(kind: Any) -> type[Exception] | None:
    """Return the class of environment error that a handler catches.

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
            yield from _kinds(kind, frame)


def _kinds(kind: ast.expr, frame: FrameType) -> Iterator[Any]:
    """Look up a name, a dotted name, or several; a name may hold several too."""
    if isinstance(kind, ast.Tuple):
        for one in kind.elts:
            yield from _kinds(one, frame)
    elif isinstance(kind, ast.Starred):
        yield from _kinds(kind.value, frame)
    else:
        yield from _one_by_one(_value(kind, frame))


def _one_by_one(found: Any) -> Iterator[Any]:
    if isinstance(found, tuple):
        for one in found:
            yield from _one_by_one(one)
    else:
        yield found


def _value(name: ast.expr, frame: FrameType) -> Any:
    if isinstance(name, ast.Attribute):
        # An attribute may be code of the user's, which may fail.
        with suppress(Exception):
            return getattr(_value(name.value, frame), name.attr)
    if isinstance(name, ast.Name):
        for place in (frame.f_locals, frame.f_globals, vars(builtins)):
            if name.id in place:
                return place[name.id]
    return None
