"""Where in the modeller's own files something happened."""

from __future__ import annotations

import abc
import ast
import contextlib
import dataclasses
import dis
import functools
import inspect
import sys
import traceback
import typing
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.model.errors import ModelError, OnceproofError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_ROOT = Path(__file__).parent.parent.parent
_OWN = tuple(str(_ROOT / room) for room in ("model", "properties", "spark_checks"))
_MODELS = tuple(str(_ROOT / shelf) for shelf in ("model/protocols",))
_NOT_THE_MODEL = (
    functools.__file__,
    contextlib.__file__,
    typing.__file__,
    dataclasses.__file__,
)
_ENTRANCES = tuple(
    str(_ROOT / room) for room in ("spark_checks/cli", "spark_checks/pytest_plugin")
)
"""Whoever called these is no modeller, such as the library that reads options."""
_ASKING = (functools.__file__, typing.__file__, abc.__file__, "<frozen abc>")


_outermost: ContextVar[FrameType | None] = ContextVar("outermost", default=None)


def in_model() -> bool:
    """Return whether a method of a model is being traced."""
    return _outermost.get() is not None


def model_frame() -> FrameType | None:
    """Find the innermost frame that belongs to the modeller, not to the language."""
    return next(model_frames(), None)


def model_frames() -> Iterator[FrameType]:
    """Yield the modeller's frames of the method that is run, from the innermost on."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not _outermost.get():
        filename = frame.f_code.co_filename
        if filename.startswith(_ENTRANCES):
            return
        if _is_modellers(filename):
            yield frame
        frame = frame.f_back


def asked_by_model(frame: FrameType | None) -> bool:
    """Return whether the modeller's code, or a function of Python it called, runs.

    Such a function is one that only asks what kind of value it is given.
    """
    while frame is not None and frame.f_code.co_filename in _ASKING:
        frame = frame.f_back
    return frame is not None and _is_modellers(frame.f_code.co_filename)


def _is_modellers(filename: str) -> bool:
    if filename.startswith("<") or filename in _NOT_THE_MODEL:
        return False
    return filename.startswith(_MODELS) or not filename.startswith(_OWN)


def here() -> str:
    """Return ``file:line`` of the modeller's line that is running."""
    frame = model_frame()
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def defined_at(function: Callable[..., object]) -> str:
    """Return ``file:line`` of a function's or method's definition, where it has one."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""


def class_place(kind: type) -> str:
    """Return ``file:line`` of a class, where its file can be read."""
    try:
        _, line = inspect.getsourcelines(kind)
        return f"{inspect.getsourcefile(kind)}:{line}"
    except (OSError, TypeError):
        return ""


@contextmanager
def modelling(where: str) -> Iterator[None]:
    """Report any error inside with the modeller's line, or with ``where``.

    Raises ``ModelError``.
    """
    token = _outermost.set(sys._getframe(2))
    try:
        yield
    except ModelError as error:
        if error.where:
            raise
        raise ModelError(str(error), where=where) from error
    except OnceproofError:
        raise
    except NotImplementedError as error:
        missing = left_open(error)
        raise ModelError(missing[0], where=missing[1] or where) from error
    except (Exception, SystemExit) as error:
        mine = [
            f"{frame.filename}:{frame.lineno}"
            for frame in traceback.extract_tb(error.__traceback__)
            if _is_modellers(frame.filename)
        ]
        message = f"{type(error).__name__}: {error}"
        if isinstance(error, RecursionError):
            message += "; help: choose smaller sizes, or nest fewer calls and values"
        raise ModelError(message, where=mine[-1] if mine else where) from error
    finally:
        _outermost.reset(token)


def left_open(error: NotImplementedError) -> tuple[str, str]:
    """Say which method a class has to have and has not, and where the class is.

    The place is empty if the error does not tell of a method that is left open.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    asked, name = frames[-1].f_locals.get("self"), frames[-1].f_code.co_name
    if str(error) or asked is None:
        return f"{type(error).__name__}: {error}", ""
    kind = type(asked)
    message = f"{kind.__name__} has no `{name}`, which what it derives from leaves open"
    return f"{message}; write one", class_place(kind)


@functools.lru_cache(maxsize=64)
def _parsed(filename: str) -> ast.Module | None:
    try:
        return ast.parse(Path(filename).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None


_MENDS = {
    ast.If: "`if` cannot branch on a model's state; use when(...) or if_else(...)",
    ast.While: "`while` cannot depend on a model's state; write one action per turn",
    ast.IfExp: "`a if c else b` cannot branch on a model's state; use if_else(c, a, b)",
    ast.Assert: "`assert` cannot test a model's state; use when(...) or a property",
    ast.And: "`and` would be decided now; use all_of(a, b)",
    ast.Or: "`or` would be decided now; use any_of(a, b)",
    ast.Not: "`not` would be decided now; use not_(a)",
    ast.Compare: "a chained comparison hides an `and`; use all_of(a < b, b < c)",
    ast.comprehension: (
        "an `if` in a comprehension would be decided now; "
        "use implies(c, x) in all_of, all_of(c, x) in any_of and count"
    ),
    ast.In: "`in` would be decided now; use any_of(x == a, x == b)",
    ast.Match: "`match` cannot branch on a model's state; use if_else(...)",
}

_MEMBERSHIP = (ast.In, ast.NotIn)

_CALLS = {
    "max": "`max` would compare now; use max_of(a, b)",
    "min": "`min` would compare now; use min_of(a, b)",
    "any": "`any` would be decided now; use any_of(...)",
    "all": "`all` would be decided now; use all_of(...)",
    "bool": "`bool` would be decided now; leave it out",
    "sorted": "`sorted` would compare now; use if_else(a < b, ...), min_of or max_of",
}
"""What to write in place of Python's own functions that decide something."""

_ANY_CONSTRUCT = (
    "a value of the model has no truth value while the model is traced; "
    "use when, if_else, all_of, any_of, not_ or implies"
)


def truth_fix() -> str:
    """Name the construct that needed a truth value, and what to write instead."""
    frame = model_frame()
    if frame is None:
        return _ANY_CONSTRUCT
    if dis.opname[frame.f_code.co_code[frame.f_lasti]] == "COMPARE_OP":
        return "tuples would be compared now, part by part; use equal(a, b)"
    tree = _parsed(frame.f_code.co_filename)
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    line, end_line, column, end_column = positions
    if None in positions or tree is None or line is None or column is None:
        return _ANY_CONSTRUCT
    # Branches are placed at their whole statement, other tests at themselves.
    return (
        _branch(tree, (line, column, end_line, end_column))
        or _innermost(tree, (line, column))
        or _ANY_CONSTRUCT
    )


def _branch(tree: ast.AST, span: tuple[int | None, ...]) -> str:
    """Name the branch that spans just what is running."""
    for node in ast.walk(tree):
        place = tuple(
            getattr(node, name, None)
            for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")
        )
        if place == span:
            if type(node) in (ast.If, ast.While, ast.IfExp, ast.Assert):
                return _MENDS[type(node)]
            if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
                return _MENDS[ast.comprehension]
    return ""


def _innermost(tree: ast.AST, spot: tuple[int, int]) -> str:
    """Find the smallest construct around ``spot`` that decides a truth value."""
    found = ""
    for node in ast.walk(tree):
        kind: type[ast.AST] | None = type(node)
        tested: list[ast.AST] = []
        if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
            tested = [node.test]
        elif isinstance(node, ast.BoolOp):
            kind, tested = type(node.op), [node]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            kind, tested = ast.Not, [node]
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            tested = [node]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], _MEMBERSHIP):
            kind, tested = ast.In, [node]
        elif isinstance(node, ast.comprehension):
            tested = list(node.ifs)
        elif isinstance(node, ast.Match):
            tested = [node]
        if any(_covers(test, spot) for test in tested) and kind in _MENDS:
            found = _MENDS[kind]
        name = getattr(getattr(node, "func", None), "id", "")
        if name in _CALLS and _covers(node, spot):
            found = _CALLS[name]
    return found


def _covers(node: ast.AST, spot: tuple[int, int]) -> bool:
    start = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    end = (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))
    return start <= spot < end
