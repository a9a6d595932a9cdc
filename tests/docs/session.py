"""Runs the examples of a page one after the other, as a reader would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from onceproof.spark_checks.cli import main
from onceproof.spark_checks.pytest_plugin.known_failures import read_expected
from onceproof.spark_checks.report.evidence.project_settings import parsed
from tests.docs.ini import Ini
from tests.docs.pages import INDENTED, agrees, blocks, commands
from tests.docs.shell import forget
from tests.test_house import ROOMS, ROOT

if TYPE_CHECKING:
    from tests.docs.pages import Block
    from tests.docs.shell import Shell

SHOWN = ("console", "sh", "bash", INDENTED)
PROGRAMS = ("pytest", "onceproof")
OWN_SPARK = "reconcile"
NEED_JAVA = ("replay", "doctor", OWN_SPARK)


def needs_spark(page: Path) -> bool:
    """Say whether a page has a command that starts Spark."""
    shown = [b for b in blocks(page) if b.kind in SHOWN and not b.mark]
    return any(_by_spark(c.words) for block in shown for c in commands(block))


class Session:
    """A folder, what has been defined so far, and how the commands ended."""

    def __init__(self, folder: Path, shell: Shell) -> None:
        """Work in ``folder``; ``shell`` runs what needs Spark."""
        self.folder = folder
        self.shell = shell
        self.names: dict[str, object] = {"__name__": "page"}
        self.run_by_commands = False
        self.statuses: list[int] = []
        self.where = ""

    def run(self, page: Path) -> None:
        """Run every example that is not marked; fail where one cannot be run."""
        found = blocks(page)
        self.run_by_commands = any(b.kind == "console" for b in found)
        for block in found:
            if not block.mark:
                self.where = f"{page.relative_to(ROOT)}, line {block.line}"
                self.one(block)

    def one(self, block: Block) -> None:
        """Run an example."""
        if block.name:
            path = self.folder / block.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
        if block.kind == "python":
            self.python(block)
        elif block.kind == "toml":
            self.toml(block)
        elif block.kind == "json":
            by_line = block.name.endswith(".jsonl")
            for text in block.text.splitlines() if by_line else [block.text]:
                json.loads(text)
        elif block.kind in SHOWN:
            self.commands(block)
        else:
            pytest.fail(f"{self.where}: {block.kind or 'a block'} is not run; mark it")

    def python(self, block: Block) -> None:
        """Execute it, unless it is quoted, or a file that the page's commands run."""
        code = compile(block.text, f"<{self.where}>", "exec")
        if not (block.name and self.run_by_commands) and not quoted(block.text):
            exec(code, self.names)

    def toml(self, block: Block) -> None:
        """Read settings by what reads them in a project."""
        data = tomllib.loads(block.text)
        tool = data.get("tool", {})
        if "onceproof" in tool:
            parsed(tool["onceproof"], self.folder)
        if "pytest" in tool:
            Ini(tool["pytest"]["ini_options"]).read()
        if "expected" in data:
            path = self.folder / "expected.toml"
            path.write_text(block.text)
            read_expected(path)
        known = {"onceproof", "pytest"} & set(tool) or "expected" in data
        assert known, f"{self.where}: nothing reads this; mark it"

    def commands(self, block: Block) -> None:
        """Run commands, and compare what they print."""
        for command in commands(block):
            program = command.words[0]
            assert program in PROGRAMS, f"{self.where}: {program} is not run; mark it"
            if command.words[1:2] == (OWN_SPARK,):
                status, printed, errors = self.in_a_process(command.words)
            elif _by_spark(command.words):
                status, printed, errors = self.shell.run(command.words, self.folder)
            else:
                status, printed, errors = self.in_process(command.words)
            text = f"{self.where}: {' '.join(command.words)}\n{printed}\n{errors}"
            assert agrees(command, printed), text
            self.statuses.append(status)

    def in_a_process(self, words: tuple[str, ...]) -> tuple[int, str, str]:
        """Run ``onceproof ...`` by itself: it starts Spark, and stops it."""
        module = "onceproof.spark_checks.cli"
        done = subprocess.run(
            [sys.executable, "-m", module, *words[1:]],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def in_process(self, words: tuple[str, ...]) -> tuple[int, str, str]:
        """Run ``onceproof ...`` here: it starts no Spark."""
        forget(self.folder)
        before = Path.cwd(), list(sys.path)
        os.chdir(self.folder)
        try:
            done = CliRunner().invoke(main, list(words[1:]))
        finally:
            os.chdir(before[0])
            sys.path[:] = before[1]
        return done.exit_code, done.output, str(done.exception or "")


def quoted(text: str) -> bool:
    """Say whether a text stands like this in the code, however far indented."""
    sought = [line.strip() for line in text.strip().splitlines()]
    joined = "\n".join(sought)
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            whole = path.read_text(encoding="utf-8")
            if sought[0] in whole:
                lines = "\n".join(line.strip() for line in whole.splitlines())
                if joined in lines:
                    return True
    return False


def _by_spark(words: tuple[str, ...]) -> bool:
    return words[0] == "pytest" or words[1:2] in [(word,) for word in NEED_JAVA]
