"""The tutorial works as it is written, from the empty folder to the repaired sink."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import agrees, blocks, commands
from tests.test_house import ROOT

pytestmark = pytest.mark.spark

MODULES = {"pytest": "pytest", "onceproof": "onceproof.spark_checks.cli"}


def test_the_page_does_what_it_says(tmp_path):
    """Each file is written as shown; each command prints what stands below it."""
    page = blocks(ROOT / "docs" / "tutorial.md")
    ran = []

    for block in page:
        if block.name:
            (tmp_path / block.name).write_text(block.text)
        for command in commands(block) if block.kind == "console" else ():
            done = _run(command.words, tmp_path)
            assert agrees(command, done.stdout), done.stdout + done.stderr
            ran.append(
                (command.words[0], Path(command.words[-1]).name, done.returncode)
            )

    assert ran == [
        ("pytest", "test_append.py", 1),
        ("onceproof", "append--effectively-once.json", 1),
        ("pytest", "test_upsert.py", 0),
        ("pytest", "test_totals.py", 1),
        ("pytest", "test_ledger.py", 0),
    ]


def _run(words: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a reader does, outside any CI."""
    command = [sys.executable, "-m", MODULES[words[0]], *words[1:]]
    outside = {k: v for k, v in os.environ.items() if k not in ("CI", "PYTEST_ADDOPTS")}
    return subprocess.run(
        command, cwd=folder, env=outside, capture_output=True, text=True, check=False
    )
