"""The command line answers in tables and in JSON, and refuses in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from onceproof.spark_checks.cli import main

EVIDENCE = Path(__file__).parents[3] / "docs" / "evidence"


def run(*words: str):
    return CliRunner().invoke(main, list(words))


def test_check_reproduces_the_published_counts():
    """JSON of check holds counts, depth and verdicts."""
    result = run("check", "two-phase-commit", "--set", "RM=5", "--json")

    data = json.loads(result.stdout)

    assert (data["distinct"], data["generated"], data["depth"]) == (8832, 58146, 16)
    assert data["properties"]["agreement"] == "exhausted"
    assert result.exit_code == 0


@pytest.mark.parametrize("members", [1, 2, 4])
def test_depth_means_the_same_wherever_it_is_printed(members):
    """It is the number of steps to the state that is furthest from the start."""
    words = ("check", "two-phase-commit", "--set", f"RM={members}")

    data = json.loads(run(*words, "--json").stdout)
    printed = run(*words).stdout

    depth = data["depth"]
    assert f"depth {depth}, " in printed
    assert f"at most {depth} steps from the start" in printed.replace("\n", " ")
    assert f"at most {depth} steps from the start" in data["bounds"]["agreement"]


def test_a_refuted_property_is_exit_status_1():
    """A counterexample is status 1, with its trace."""
    result = run("check", "micro-batch", "--set", "sink=append", "--json")

    data = json.loads(result.stdout)

    assert result.exit_code == 1
    assert data["properties"]["effectively-once"] == "refuted"
    assert data["traces"]["effectively-once"]


def test_a_limit_is_exit_status_2():
    """A search that gives up holds nothing."""
    result = run(
        "check", "two-phase-commit", "--set", "RM=7", "--max-states", "99", "--json"
    )

    verdicts = json.loads(result.stdout)["properties"]

    assert result.exit_code == 2
    assert verdicts["agreement"] == "undecided"


def test_prove_names_the_lemmas_it_used():
    """Agreement is proved for every size, with lemmas."""
    result = run("prove", "two-phase-commit", "--property", "agreement", "--json")

    data = json.loads(result.stdout)["properties"]["agreement"]

    assert data["verdict"] == "proved"
    assert "one-decision" in data["lemmas"]
    assert data["bounds"] == "every number of members of RM; no faults"
    assert data["confirmed"] == "confirmed by search at RM=1, 2 and 3 (356 states)"


def test_what_verdicts_are_limited_to_is_below_the_table():
    """Sizes, faults and how far was looked, of each judge; and what never happened."""
    never = ("check", "two-phase-commit-log", "--set", "crashes=0", "--set", "losses=0")

    proved = run("prove", "two-phase-commit", "--property", "agreement")
    searched = run("check", "two-phase-commit", "--property", "agreement")
    idle = run(*never, "--max-states", "3", "--property", "agreement")
    data = json.loads(run(*never, "--max-states", "3", "--json").stdout)

    assert (
        "proved: every number of members of RM; no faults; "
        "confirmed by search at RM=1, 2 and 3 (356 states)" in proved.stdout
    )
    assert (
        "exhausted: every reachable state, at most 10 steps from the start; RM=3; "
        "no faults" in searched.stdout
    )
    assert "never taken" not in searched.stdout
    never_taken = ", ".join(data["never_taken"])
    assert f"actions never taken until it stopped: {never_taken}" in " ".join(
        idle.stdout.split()
    )
    assert data["never_taken"]


def test_interleavings_are_listed_with_their_sizes_in_a_fixed_order():
    """The same command gives the same classes in the same order."""
    words = ("interleavings", "micro-batch", "--set", "sink=upsert", "--json")
    first, second = run(*words), run(*words)

    data = json.loads(first.stdout)

    assert first.stdout == second.stdout
    assert [i["number"] for i in data["interleavings"]] == list(range(1, 16))
    assert all(i["size"] > 0 and i["faults"] for i in data["interleavings"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("check", "two-phase-comit"), "did you mean 'two-phase-commit'"),
        (("check", "two-phase-commit", "--set", "RMM=3"), "did you mean 'RM'"),
        (("check", "two-phase-commit", "--set", "RM=0"), "RM must be 1 to 64"),
        (("check", "two-phase-commit", "--set", "RM=999"), "RM must be 1 to 64"),
        (("check", "two-phase-commit", "--set", "RM=x"), "whole number"),
        (("check", "two-phase-commit", "--set", "RM"), "NAME=VALUE"),
        (("check", "two-phase-commit", "--max-memory", "lots"), "takes a whole number"),
        (("check", "micro-batch", "--set", "sink=apend"), "did you mean 'append'"),
        (("check", "micro-batch", "--property", "once"), "unknown property 'once'"),
        (("prove", "nothing"), "unknown protocol 'nothing'"),
        (("replay", "parket"), "unknown sink 'parket'"),
        (("replay", "absent.json"), "cannot be read"),
        (("replay", "--output", "/proc/none"), "cannot be written to"),
    ],
)
def test_bad_input_ends_in_one_sentence_and_status_2(words, sentence):
    """The message says what was wrong, and the fix."""
    result = run(*words)

    lines = result.output.strip().splitlines()

    assert result.exit_code == 2
    assert len(lines) == 1
    assert sentence in lines[0]


def test_doctor_finds_what_it_needs_here():
    """Where replays run, the doctor is content; it prints versions."""
    result = run("doctor", "--json")

    found = {f["name"]: f for f in json.loads(result.stdout)}

    assert result.exit_code == 0
    assert {"python", "java", "pyspark", "z3-solver", "llvmlite"} <= set(found)


def test_doctor_says_how_to_mend_a_missing_java(monkeypatch, tmp_path):
    """No Java: one sentence, and status 2."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    result = run("doctor", "--json")

    java = next(f for f in json.loads(result.stdout) if f["name"] == "java")
    assert result.exit_code == 2
    assert "install Java 17" in java["problem"]


WRITE = "write(batch 0, partition 0, attempt 0)"


@pytest.mark.parametrize(
    "words",
    [
        ("interleavings", "--faults", "1"),
        ("export", "--to", "mermaid", "--output", "drawn.mmd"),
        ("check", "--property", "effectively-once", "--evidence", "left"),
    ],
    ids=lambda words: words[0],
)
def test_steps_are_shown_with_a_word_beside_each_number(words, tmp_path, monkeypatch):
    """In tables, in pictures and in evidence, as in a counterexample."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "240")
    command, *options = words
    sizes = [f"--set={name}=1" for name in ("BATCH", "PARTITION")]

    done = run(command, "micro-batch", "--set", "sink=append", *sizes, *options)

    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    shown = "".join([done.output, *(path.read_text() for path in files)])
    assert WRITE in shown, done.output
    assert "write(0, 0, 0)" not in shown


def test_a_matrix_without_replays_says_where_they_come_from(tmp_path, monkeypatch):
    """A column that is empty has a reason."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()

    without = run("matrix", "--only", "table-commit", "--evidence", "empty")
    beside = run("matrix", "--only", "append-whole", "--evidence", str(EVIDENCE))

    assert "no replay is shown beside a verdict" in without.stderr
    assert "no replay is shown" not in beside.stderr
