"""Reads the examples of a page of the documentation, and compares what they print."""

from __future__ import annotations

import doctest
import re
import shlex
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.test_house import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GENERATED = ("mistakes.md", "guarantees.md", "verdicts.md")
MARK = re.compile(r"<!-- not run: (\S.*) -->")
FENCE = re.compile(r"^( *)(`{3,}|~{3,})(\S*) ?(\S*)$")
ITEM = re.compile(r"^([-*+]|\d+[.)]) ")
INDENTED = "indented"
INCLUDED = "{code-block}"


@dataclass(frozen=True)
class Block:
    """An example: its language, the file it is named after, and its text.

    ``mark`` is the reason why it is not run, where the page gives one.
    """

    kind: str
    name: str
    text: str
    line: int = 0
    mark: str = ""


@dataclass(frozen=True)
class Command:
    """A command that a page shows, and what it prints there, if that is shown."""

    words: tuple[str, ...]
    printed: str | None


def pages() -> list[Path]:
    """List the pages that are written by hand."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    return [ROOT / "README.md", *(p for p in found if p.name not in GENERATED)]


def blocks(page: Path) -> list[Block]:
    """List the examples of a page: fenced blocks, and those that are indented.

    A directive of Sphinx is no example, unless it shows code.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    return [b for b in _blocks(lines) if b.kind[:1] != "{" or b.kind == INCLUDED]


def commands(block: Block) -> list[Command]:
    """List the commands of a block; only a console block shows what they print."""
    if block.kind != "console":
        lines = block.text.replace("\\\n", " ").splitlines()
        split = (shlex.split(line, comments=True) for line in lines)
        return [Command(tuple(words), None) for words in split if words]
    found = []
    text = re.sub(r"\\\n +", "", block.text)
    for shown in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, printed = shown.partition("\n")
        found.append(Command(tuple(shlex.split(line)), printed))
    return found


def agrees(command: Command, printed: str) -> bool:
    """Compare with what the page shows, where ``...`` stands for anything."""
    if command.printed is None:
        return True
    checker = doctest.OutputChecker()
    return checker.check_output(
        _tidy(command.printed), _tidy(printed), doctest.ELLIPSIS
    )


def _blocks(lines: list[str]) -> Iterator[Block]:
    at, above, mark = 0, "", ""
    while at < len(lines):
        line, start = lines[at], at + 1
        fence = FENCE.match(line)
        marked = MARK.fullmatch(line.strip())
        if fence:
            indent, ticks, kind, name = fence.groups()
            end = lines.index(f"{indent}{ticks}", start)
            yield Block(kind, name, _text(lines[start:end]), start, mark)
            at = end
        elif line.startswith("    ") and not above:
            end = _end(lines, at)
            yield Block(INDENTED, "", _text(lines[at:end]), start, mark)
            at = end - 1
        elif ITEM.match(line):
            above = line
        elif line and not line.startswith(" "):
            above = ""
        if line.strip():
            mark = marked.group(1) if marked else ""
        at += 1


def _end(lines: list[str], at: int) -> int:
    while at < len(lines) and (not lines[at] or lines[at].startswith("    ")):
        at += 1
    return at


def _text(lines: list[str]) -> str:
    return textwrap.dedent("\n".join(lines)).strip("\n") + "\n"


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"
