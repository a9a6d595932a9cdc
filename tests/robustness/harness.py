"""A bad input as a row of a table, and what every answer to one must look like.

A case names the words of a command line, the files that lie in the folder where it
runs, the exit status, and what the sentence on stderr says. ``refused`` runs one in
this process and asserts all that holds for each: the status, one sentence and no
traceback, nothing on stdout (but one JSON document where the case expects data), no
control characters, and the folder as it was.

A module of cases lists them as ``CASES`` and runs them by one test::

    CASES = (Case("no protocol", ("check",), sentence="name a protocol"), ...)

    @pytest.mark.parametrize("case", CASES, ids=str)
    def test_it_is_refused(case, there):
        refused(case, there)
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003 - dataclasses read it
from typing import TYPE_CHECKING

from click.testing import CliRunner

from onceproof.spark_checks.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MODULES = ("onceproof_file_",)


@dataclass(frozen=True)
class Case:
    """A bad input: the words of a command line, and how they must be answered.

    ``files`` lie in the folder where the command runs, by path; None makes a folder.
    ``prepare`` is called with that folder, for what files cannot say. ``sentence`` is
    part of the sentence on stderr. ``data`` says that stdout holds one JSON document,
    ``left`` names the files that the command may leave. ``apart`` runs it as a process
    of its own, which nothing in this one can help.
    """

    name: str
    words: tuple[str, ...]
    sentence: str
    status: int = 2
    files: Mapping[str, str | bytes | None] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Path], object] | None = None
    data: bool = False
    left: tuple[str, ...] = ()
    apart: bool = False

    def __str__(self) -> str:
        """Show the case as its test is named."""
        return self.name


@dataclass(frozen=True)
class Answer:
    """What a command answered."""

    status: int
    stdout: str
    stderr: str


def refused(case: Case, folder: Path) -> Answer:
    """Run a case in a folder, and assert that it is answered rightly."""
    _lay(case, folder)
    before = _listed(folder)

    answer = (_apart if case.apart else _here)(case, folder)

    assert answer.status == case.status, answer
    assert "Traceback" not in answer.stdout + answer.stderr
    sentences = _sentences(answer.stderr)
    assert len(sentences) == 1, answer.stderr
    assert case.sentence in sentences[0]
    for text in (answer.stdout, answer.stderr):
        assert all(c.isprintable() or c == "\n" for c in text), text
    if case.data:
        json.loads(answer.stdout)
    else:
        assert answer.stdout == ""
    assert _listed(folder) - before <= set(case.left)
    return answer


def _lay(case: Case, folder: Path) -> None:
    for name, text in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if case.prepare is not None:
        case.prepare(folder)


def _here(case: Case, folder: Path) -> Answer:
    """Run the command in this process; what it imported is forgotten."""
    known, paths = set(sys.modules), list(sys.path)
    try:
        with contextlib.chdir(folder):
            result = CliRunner(env=dict(case.environment)).invoke(
                main, list(case.words)
            )
    finally:
        assert sys.path == paths, "a command leaves sys.path as it was"
        for name in set(sys.modules) - known:
            if name.startswith(_MODULES):
                del sys.modules[name]
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.stdout, result.stderr)


def _apart(case: Case, folder: Path) -> Answer:
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", *case.words]
    result = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **case.environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    streams = (part.decode(errors="replace") for part in (result.stdout, result.stderr))
    return Answer(result.returncode, *streams)


def _sentences(stderr: str) -> list[str]:
    """List what was said, without the reminder of usage that click puts before it."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    return [line for line in lines if not line.startswith(("Usage: ", "Try '"))]


def _listed(folder: Path) -> set[str]:
    """List what lies in a folder; what Python caches beside a module is no answer."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if "__pycache__" not in path.parts
    }
