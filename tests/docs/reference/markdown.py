"""Turns docstrings into Markdown, and rows into tables."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from sphinx.pycode import ModuleAnalyzer

if TYPE_CHECKING:
    from collections.abc import Iterable


def head(*names: str) -> Iterable[str]:
    """Begin a table."""
    return row(*names), row(*("---" for _ in names))


def row(*cells: str) -> str:
    """Write a row of a table."""
    shown = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(shown)} |".replace("|  |", "| |")


def sentence(text: str) -> str:
    """Begin a text with a capital, and end it with a full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


def described(thing: object, name: tuple[str, str], module: str) -> tuple[str, str]:
    """Give the first line of what documents a name, and the rest, as Markdown.

    ``name`` is a pair: a class, or nothing, and a name in it. Raises ``LookupError``
    where nothing documents it.
    """
    shared = inspect.getdoc(type(thing))
    text = inspect.getdoc(thing) or ""
    if not text or text == shared:
        output = attribute_docs(module).get(name)
        text = "\n".join(output) if output else getattr(thing, "text", "")
    first, _, rest = text.strip().partition("\n\n")
    if not first:
        message = f"{module}: {'.'.join(filter(None, name))} has no docstring"
        raise LookupError(message)
    return marked(sentence(" ".join(first.split()))), marked(rest)


def attribute_docs(module: str) -> dict[tuple[str, str], list[str]]:
    """Read what documents the attributes of a module, and of its classes."""
    return ModuleAnalyzer.for_module(module).find_attr_docs()


def marked(text: str) -> str:
    """Write code as Markdown has it."""
    return text.replace("``", "`")
