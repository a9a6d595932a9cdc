"""Reads a page of the documentation as a session: files to write, commands to run."""

from __future__ import annotations

import doctest
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from click.testing import CliRunner

from onceproof.spark_checks.cli import main

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it is named after, and its text."""

    kind: str
    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command that a page shows, and what it prints there."""

    words: tuple[str, ...]
    printed: str


def blocks(page: Path) -> list[Block]:
    """List the fenced blocks of a page."""
    return [Block(*found) for found in BLOCK.findall(page.read_text(encoding="utf-8"))]


def commands(block: Block) -> list[Command]:
    """List the commands of a console block."""
    found = []
    for shown in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, printed = shown.partition("\n")
        found.append(Command(tuple(shlex.split(line)), printed))
    return found


def run(command: Command) -> tuple[int, str]:
    """Run ``onceproof ...``; give the exit status and what was printed."""
    assert command.words[0] == "onceproof"
    done = CliRunner().invoke(main, list(command.words[1:]))
    return done.exit_code, done.output


def agrees(command: Command, printed: str) -> bool:
    """Compare with what the page shows, where ``...`` stands for anything."""
    checker = doctest.OutputChecker()
    return checker.check_output(
        _tidy(command.printed), _tidy(printed), doctest.ELLIPSIS
    )


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"
