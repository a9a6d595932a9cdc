"""What the text of a user's code says of a line: the blocks and handlers around it."""

from __future__ import annotations

import ast
import functools
import linecache
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Guarded:
    """Lines of a function inside a ``try`` or ``with`` that catches errors."""

    function: str
    """The name of the function."""
    first: int
    """The first line."""
    last: int
    """The last line."""
    kinds: tuple[ast.expr, ...]
    """The classes of error that are caught, as expressions."""


def leaves_block(file: str, line: int, before: int) -> bool:
    """Return whether a line of a ``with`` is reached from inside its block."""
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
def guarded_lines(file: str) -> tuple[Guarded, ...]:
    """Find all lines of a file around which errors are caught."""
    return tuple(_in(_tree(file), ""))


def _in(node: ast.AST, function: str) -> Iterator[Guarded]:
    for child in ast.iter_child_nodes(node):
        inside = function
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = child.name
        elif isinstance(child, ast.Lambda):
            inside = "<lambda>"
        elif kinds := _kinds(child):
            body = child.body  # type: ignore[attr-defined]
            yield Guarded(function, body[0].lineno, body[-1].end_lineno, kinds)
        yield from _in(child, inside)


def _kinds(node: ast.AST) -> tuple[ast.expr, ...]:
    """Return what a ``try`` catches, or a ``with suppress(...)``."""
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
