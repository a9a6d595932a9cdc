"""Makes a protocol that shows a disagreement smaller, as long as it still does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.soundness.drawing.description import Klass, Node
from tests.soundness.drawing.generator import MODALITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.soundness.drawing.description import Description, Method

SIMPLE = {"bool": ("True", "False"), "int": ("0", "1"), "colour": ("Colour.RED",)}


def reduced(
    description: Description, fails: Callable[[Description], bool], most: int = 150
) -> Description:
    """Leave out, and simplify, what the failure does not need; ``most`` tries."""
    tries = at = 0
    for smaller in _with_few_methods(description):
        tries += 1
        if fails(smaller):
            description = smaller
            break
    while tries < most:
        # What comes before the place of the last success was tried already.
        candidates = list(smaller_ones(description))[at:]
        if not candidates:
            return description if not at else _again(description, fails, most - tries)
        tries += 1
        if fails(candidates[0]):
            description = candidates[0]
        else:
            at += 1
    return description


def _again(
    description: Description, fails: Callable[[Description], bool], most: int
) -> Description:
    for smaller in list(smaller_ones(description))[:most]:
        if fails(smaller):
            return reduced(smaller, fails, most)
    return description


def _with_few_methods(description: Description) -> Iterator[Description]:
    """Yield descriptions with one claim at most, the fewest methods first."""
    *others, last = description.classes
    claims = [m for m in last.methods if m.mark.strip("@").split("(")[0] in MODALITIES]
    rest = [m for m in last.methods if m not in claims]
    for chosen in ([], *([claim] for claim in claims)):
        methods = tuple(m for m in last.methods if m in rest or m in chosen)
        klass = replace(last, methods=methods)
        yield replace(description, classes=(*others, klass))


def smaller_ones(description: Description) -> Iterator[Description]:
    """Yield descriptions with one thing less: whole methods first."""
    for number, klass in enumerate(description.classes):
        for smaller in _classes(klass):
            classes = list(description.classes)
            classes[number] = smaller
            yield replace(description, classes=tuple(classes))


def _classes(klass: Klass) -> Iterator[Klass]:
    for i in range(len(klass.methods)):
        yield replace(klass, methods=klass.methods[:i] + klass.methods[i + 1 :])
    for i in range(len(klass.declarations)):
        less = klass.declarations[:i] + klass.declarations[i + 1 :]
        yield replace(klass, declarations=less)
    for i, method in enumerate(klass.methods):
        for smaller in _methods(method):
            changed = (*klass.methods[:i], smaller, *klass.methods[i + 1 :])
            yield replace(klass, methods=changed)


def _methods(method: Method) -> Iterator[Method]:
    for i, line in enumerate(method.lines):
        if len(method.lines) > 1:
            yield replace(method, lines=method.lines[:i] + method.lines[i + 1 :])
        for smaller in _nodes(line):
            changed = (*method.lines[:i], smaller, *method.lines[i + 1 :])
            yield replace(method, lines=changed)


def _nodes(line: Node) -> Iterator[Node]:
    for way, node in line.walk():
        if not way:
            continue
        if node.text not in SIMPLE.get(node.type, ()):
            for text in SIMPLE.get(node.type, ()):
                yield line.put(way, Node(node.type, text))
        for _, inner in node.walk():
            if inner is not node and inner.type == node.type:
                yield line.put(way, inner)
