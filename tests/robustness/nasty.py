"""Texts that are code, markup or control characters wherever they are taken for that.

``places`` lists where plain data holds text, one place of each kind, and ``put`` gives
the data with another text there.
"""

from __future__ import annotations

import ast
import copy
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

NASTY = {
    "quotes": "'\"'''\"\"\"",
    "end of a text": '"""\nimport os; os.system("false")\n"""',
    "backslash": "\\",
    "backslash and quote": "\\\"\\'\\",
    "lines": "a\nb\r\nc\u2028d\u2029e\x0bf\x0cg\x85h",
    "braces": "{0} {name} {{ }} %s %(x)s ${x}",
    "shell": "$(false); `false` | false && false > /dev/null #",
    "script": "</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)>",
    "svg": "<svg onload=alert(1)>&lt;&#60;",
    "markdown": "| a | b |\n# [x](javascript:alert(1)) ![y](http://z) **c** `d`",
    "cells": "a\\|b\\\\|c\\",
    "markup": "[red]x[/red][/][link=http://x]y[/link][bold",
    "title": "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\x9b31m",
    "bidi": "\u202eevil\u2066\u200b\ufeff\u2069",
    "nul": "a\0b",
    "surrogates": "\ud800x\udfff",
    "delete": "\x7f\x80\x9f\x08\x08\x08",
    "option": "--help",
    "path": "../../../../../../../../etc/passwd",
    "empty": "",
    "long": "x" * 1_000_000,
    "unicode": "é漢😀ﬁ²",
}


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of each kind of text: of a list, of the first that has it."""
    seen: set[tuple[Any, ...]] = set()
    for place in _places(data, path):
        kind = tuple("*" if isinstance(one, int) else one for one in place)
        if kind not in seen:
            seen.add(kind)
            yield place


def _places(data: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(data, str):
        yield path
    elif isinstance(data, dict):
        for name, one in data.items():
            yield from _places(one, (*path, name))
    elif isinstance(data, list):
        for number, one in enumerate(data):
            yield from _places(one, (*path, number))


def put(data: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Give the data with something else in a place."""
    made = copy.deepcopy(data)
    within = made
    for name in place[:-1]:
        within = within[name]
    within[place[-1]] = value
    return made


def skeleton(source: str) -> str:
    """Give what a source does, whatever its constants and the name of its test are."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.value, node.kind = 0, None
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            assert node.name.isascii()
            node.name = "test_"
        elif isinstance(node, ast.Tuple | ast.List):
            assert all(isinstance(one, ast.Constant) for one in node.elts)
            node.elts = []
        elif isinstance(node, ast.Dict):
            assert all(
                isinstance(one, ast.Constant) for one in (*node.keys, *node.values)
            )
            node.keys, node.values = [], []
    return ast.dump(tree)


class Elements(HTMLParser):
    """Lists the elements of a page with the names of their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.comments = 0

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, tuple(name for name, _ in attrs)))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_comment(self, data):
        self.comments += 1


def elements(page: str) -> list[tuple[str, tuple[str, ...]]]:
    """List the elements of a page; there is no comment in it."""
    parser = Elements()
    parser.feed(page)
    parser.close()
    assert not parser.comments
    return parser.found


def clean(text: str) -> bool:
    """Say whether a text can do nothing to a terminal."""
    return all(one.isprintable() or one == "\n" for one in text)
