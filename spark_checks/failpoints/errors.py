"""The error that is raised in a user's code: of a kind that the code reckons with.

Code that catches ``sqlite3.Error`` is to meet such an error. It is one of a broken
environment, never of what the code finds: a row that is there already, a missing file.
"""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_MESSAGE = "the sink failed here"
_BROKEN = (ConnectionError, TimeoutError)


class FailedHere(Exception):  # noqa: N818 - it stands for whatever a sink may raise
    """Is raised inside a sink's own code by a rule."""


@dataclass(frozen=True)
class _Guarded:
    """Lines of a function of this name, and the kinds of error caught around them."""

    function: str
    first: int
    last: int
    kinds: tuple[ast.expr, ...]


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
        for g in _guarded(frame.f_code.co_filename)
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


def leaves_block(file: str, line: int, before: int) -> bool:
    """Say whether a line of a ``with`` is come to from inside its block: at its end."""
    return any(
        first <= line < body <= before <= last for first, body, last in _blocks(file)
    )


@functools.cache
def _tree(file: str) -> ast.AST:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ast.Module([], [])


@functools.cache
def _blocks(file: str) -> tuple[tuple[int, int, int], ...]:
    """Find each ``with``: its first line, the first of its block, and the last."""
    return tuple(
        (node.lineno, node.body[0].lineno, node.body[-1].end_lineno or 0)
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.With | ast.AsyncWith)
    )


@functools.cache
def _guarded(file: str) -> tuple[_Guarded, ...]:
    """Find all lines of a file around which errors are caught."""
    return tuple(_in(_tree(file), ""))


def _in(node: ast.AST, function: str) -> Iterator[_Guarded]:
    for child in ast.iter_child_nodes(node):
        inside = function
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = child.name
        elif isinstance(child, ast.Lambda):
            inside = "<lambda>"
        elif kinds := _kinds(child):
            body = child.body  # type: ignore[attr-defined]
            yield _Guarded(function, body[0].lineno, body[-1].end_lineno, kinds)
        yield from _in(child, inside)


def _kinds(node: ast.AST) -> tuple[ast.expr, ...]:
    """Give what a ``try`` catches, or a ``with suppress(...)``."""
    if isinstance(node, ast.Try):
        every = ast.Name("BaseException")
        return tuple(handler.type or every for handler in node.handlers)
    if isinstance(node, ast.With):
        calls = [i.context_expr for i in node.items]
        return tuple(
            kind
            for call in calls
            if isinstance(call, ast.Call)
            and ast.unparse(call.func).rpartition(".")[2] == "suppress"
            for kind in call.args
        )
    return ()
