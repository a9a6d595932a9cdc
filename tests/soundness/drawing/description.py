"""What a random protocol is made of, and its text as a file that can be run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = '''\
"""A random protocol ({origin}).

    onceproof check {file}
"""

from enum import Enum
from typing import NamedTuple

from onceproof.model.language import (
{names}
)


'''

# What a file may use, each where it does.
HELPERS = {
    "Claim": '''\
class Claim(NamedTuple):
    """A message with a member, and perhaps another."""

    who: Member
    hint: Member
''',
    "Ask": '''\
class Ask(NamedTuple):
    """A message with a member."""

    who: Member
    urgent: bool
''',
    "Entry": '''\
class Entry(NamedTuple):
    """A record that state holds."""

    urgent: bool
    page: int
    holder: Member
''',
    "Letter": '''\
class Letter(NamedTuple):
    """A message with a number in it."""

    urgent: bool
    page: int
''',
    "Note": '''\
class Note(NamedTuple):
    """A message."""

    colour: Colour
    urgent: bool
''',
    "Colour": '''\
class Colour(Enum):
    """Three values."""

    RED = "red"
    GREEN = "green"
    BLUE = "blue"
''',
    "clamp": '''\
def clamp(value, low, high):
    """Keep a number within bounds."""
    return if_else(value < low, low, if_else(value > high, high, value))
''',
}


@dataclass(frozen=True)
class Node:
    """A piece of text with a type, and with pieces in its gaps."""

    type: str
    text: str
    parts: tuple[Node, ...] = ()

    def render(self) -> str:
        """Write the text."""
        return self.text.format(*(part.render() for part in self.parts))

    def walk(self) -> Iterator[tuple[tuple[int, ...], Node]]:
        """Yield each node with the way to it."""
        yield (), self
        for i, part in enumerate(self.parts):
            for way, node in part.walk():
                yield (i, *way), node

    def put(self, way: tuple[int, ...], new: Node) -> Node:
        """Give the tree with another node in a place."""
        if not way:
            return new
        parts = list(self.parts)
        parts[way[0]] = parts[way[0]].put(way[1:], new)
        return Node(self.type, self.text, tuple(parts))


@dataclass(frozen=True)
class Method:
    """A method of a class: ``lines`` are its guards, statements or its answer."""

    mark: str
    name: str
    params: tuple[str, ...]
    lines: tuple[Node, ...]

    def render(self) -> str:
        """Write the method."""
        mark = [f"    {self.mark}"] if self.mark else []
        first = [] if self.mark == "@staticmethod" else ["self"]
        params = ", ".join([*first, *self.params])
        body = [f"        {line.render()}" for line in self.lines] or ["        pass"]
        return "\n".join([*mark, f"    def {self.name}({params}):", *body])


@dataclass(frozen=True)
class Klass:
    """A class: its declarations, and its methods."""

    name: str
    base: str
    declarations: tuple[str, ...]
    methods: tuple[Method, ...]

    def render(self) -> str:
        """Write the class."""
        body = [f"    {line}" for line in self.declarations]
        parts = ["\n".join(body)] if body else []
        parts += [method.render() for method in self.methods]
        text = "\n\n".join(parts) or "    pass"
        doc = '    """Drawn at random."""\n'
        return f"class {self.name}({self.base}):\n{doc}\n{text}\n"


@dataclass(frozen=True)
class Description:
    """A whole file."""

    origin: str
    classes: tuple[Klass, ...]

    def render(self, file: str = "FILE") -> str:
        """Write the file."""
        from onceproof.model import language

        text = "\n\n".join(klass.render() for klass in self.classes)
        for name, helper in HELPERS.items():
            if re.search(rf"\b{name}\b", text):
                text = f"{helper}\n\n{text}"
        names = [n for n in language.__all__ if re.search(rf"\b{n}\b", text)]
        listed = "\n".join(f"    {name}," for name in names)
        return HEAD.format(origin=self.origin, file=file, names=listed) + text
