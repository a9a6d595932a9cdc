"""Moves pieces of a protocol's methods into helpers, as people do who read their code.

A piece becomes a method, a property, a static method, or an attribute that the
protocol's own ``__init__`` works out from a size. Nothing changes in what it means.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.soundness.drawing.description import Klass, Method, Node

if TYPE_CHECKING:
    import random

TYPES = ("bool", "int", "colour")
MOST = 6
_NAMES = re.compile(r"\b[vp]\d+\b")
_BOUND = re.compile(r"\b(?:for|lambda) (v\d+)\b")


def with_helpers(klass: Klass, dice: random.Random, *, sized: bool) -> Klass:
    """Move up to six pieces into helpers; ``sized`` draws an ``__init__`` as well."""
    for number in range(dice.randint(0, MOST)):
        klass = _moved(klass, f"helper{number}", dice)
    if sized and dice.random() < 0.2:
        klass = _kept_at_the_start(klass, dice)
    return klass


def _pieces(klass: Klass) -> list[tuple[int, int, tuple[int, ...], Node]]:
    return [
        (m, n, way, node)
        for m, method in enumerate(klass.methods)
        if not method.name.startswith("helper")
        for n, line in enumerate(method.lines)
        for way, node in line.walk()
        if way and node.type in TYPES and ("self." in node.render() or node.parts)
    ]


def _put(klass: Klass, place: tuple[int, int, tuple[int, ...]], new: Node) -> Klass:
    m, n, way = place
    method = klass.methods[m]
    lines = list(method.lines)
    lines[n] = lines[n].put(way, new)
    methods = list(klass.methods)
    methods[m] = replace(method, lines=tuple(lines))
    return replace(klass, methods=tuple(methods))


def _moved(klass: Klass, name: str, dice: random.Random) -> Klass:
    pieces = _pieces(klass)
    if not pieces:
        return klass
    *place, node = dice.choice(pieces)
    text = node.render()
    free = sorted(set(_NAMES.findall(text)) - set(_BOUND.findall(text)))
    owner = "self"
    if re.search(r"\bafter\b", text):
        if re.search(r"\bself\b", text):
            free.append("after")
        else:
            owner, text = "after", re.sub(r"\bafter\b", "self", text)
    mark = ""
    if not re.search(r"\bself\b", text):
        mark = "@staticmethod"
    elif not free and dice.random() < 0.6:
        mark = "@property"
    called = f"{owner}.{name}" + ("" if mark == "@property" else f"({', '.join(free)})")
    piece = Node(node.type, text.replace("{", "{{").replace("}", "}}"))
    answer = Node("stmt", "return {0}", (piece,))
    klass = _put(klass, (place[0], place[1], place[2]), Node(node.type, called))
    helper = Method(mark, name, tuple(free), (answer,))
    return replace(klass, methods=(*klass.methods, helper))


def _kept_at_the_start(klass: Klass, dice: random.Random) -> Klass:
    """Keep whether there are few members, and ask for it in some condition."""
    pieces = [p for p in _pieces(klass) if p[3].type == "bool"]
    if not pieces:
        return klass
    *place, node = dice.choice(pieces)
    joined = f"{dice.choice(('any_of', 'all_of'))}({{0}}, self.few)"
    klass = _put(klass, (place[0], place[1], place[2]), Node("bool", joined, (node,)))
    start = Method(
        "",
        "__init__",
        ("**given",),
        (
            Node("stmt", "super().__init__(**given)"),
            Node("stmt", "self.few = self.sizes[Drawn.S] < 3"),
        ),
    )
    return replace(klass, methods=(start, *klass.methods))
