"""``onceproof reconcile`` as a user runs it: in a process, over files."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from onceproof.spark_checks.cli import main

KEY = ("--source", "source.json", "--sink", "sink.json", "--key", "id")


@pytest.fixture
def tables(tmp_path):
    rows = [{"id": n, "amount": n} for n in range(5)]
    for name, some in (("source", rows), ("sink", [*rows[1:], rows[4]])):
        lines = "".join(f"{json.dumps(row)}\n" for row in some)
        (tmp_path / f"{name}.json").write_text(lines)
    return tmp_path


def run(folder, *words):
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", "reconcile", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.grid
@pytest.mark.spark
def test_json_has_the_counts_and_stdout_has_nothing_else(tables):
    """The status is that of the verdicts."""
    done = run(tables, *KEY, "--sum", "amount", "--json")

    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert set(found["verdicts"].values()) == {"refuted"}
    assert (found["total"]["missing"], found["total"]["duplicated"]) == (1, 1)
    assert found["total"]["sums"] == {"amount": {"source": "10", "sink": "14"}}
    assert found["examples"]["missing"] == [{"id": "0"}]
    assert done.stderr == ""


@pytest.mark.grid
@pytest.mark.spark
@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--sum", "amont"), "`amont` cannot be resolved"),
        (("--sink-query", "SELECT nonsense FROM sink"), "`nonsense` cannot be"),
        (("--conf", "spark.jars.packages=no.such:thing:1"), "Spark did not start"),
    ],
)
def test_what_spark_refuses_is_one_sentence(tables, more, sentence):
    """No stack of Java's, and nothing on stdout."""
    done = run(tables, *KEY, *more)

    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (KEY[:4], "--key"),
        ((*KEY, "--until", "2026"), "says nothing without"),
        ((*KEY, "--time", "at"), "says nothing without"),
        ((*KEY[:-1], "a=b=c"), "key 'a=b=c' has more than one ="),
        ((*KEY, "--sum", "=b"), "sum '=b' lacks a side"),
        (("--source", "x", *KEY[2:]), "the format of the source x is not known"),
        ((*KEY, "--conf", "spark.ui.enabled"), "--conf spark.ui.enabled is not NAME="),
        ((*KEY, "--claim", "durable"), "durable"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_spark_starts(words, sentence):
    """Within a second, and in one sentence."""
    done = CliRunner().invoke(main, ["reconcile", *words])

    assert done.exit_code == 2
    assert sentence in done.output
