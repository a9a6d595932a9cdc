"""A written sheet is checked against evidence, and evidence against what it is of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from onceproof.properties.evidence.record import TraceEvidence
from onceproof.properties.evidence.store import read_folder, write
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.report.evidence.library_claims import library_claims
from onceproof.spark_checks.report.evidence.project_settings import settings_at
from onceproof.spark_checks.report.evidence.staleness import Traces
from tests.spark_checks.projects import (
    ORDERS,
    recorded,
    run,
)

ROOT = Path(__file__).parents[3]


def test_a_sheet_that_follows_from_its_evidence_is_status_0(project):
    """It holds the claims as they were stated, and what they rest on."""
    checked = run("guarantees", "--check")

    text = (project / "GUARANTEES.md").read_text()
    assert (checked.exit_code, checked.stdout) == (
        0,
        "GUARANTEES.md follows from the evidence: 2 claims\n",
    )
    assert f"| {ORDERS} | ✓ held | 9 of 9 interleavings |" in text
    assert "| two-phase-commit | ✓ exhausted | 288 states |" in text
    assert "- Configured: the table has a key." in text
    assert "<li>Readers must: wait for the batch</li>" in text


def test_a_claim_without_evidence_is_status_1_and_stands_in_the_sheet(project):
    """It says which, and the command that makes it."""
    for path in (project / ".onceproof" / "evidence").glob("two-phase-commit*"):
        path.unlink()
    run("guarantees", "--output", "GUARANTEES.md")

    checked = run("guarantees", "--check")

    assert checked.exit_code == 1
    assert checked.stdout == (
        "two-phase-commit, agreement: no evidence; run onceproof "
        "check two-phase-commit --evidence\n"
    )
    assert "unsupported" in (project / "GUARANTEES.md").read_text()


def test_a_refuted_claim_shows_its_trace_and_is_status_1(project):
    """Unless the project says that it knows."""
    shown = TraceEvidence(
        "no effect is ever visible twice", ("crash()",), (1,), "again"
    )
    found = recorded(project, verdict=Verdict.REFUTED, trace=shown)
    write([found], project / ".onceproof" / "evidence")
    run("guarantees", "--output", "GUARANTEES.md")

    surprised = run("guarantees", "--check")
    text = (project / "pyproject.toml").read_text()
    known = 'guarantee = "effectively-once"\nexpected = "refuted"'
    text = text.replace('guarantee = "effectively-once"', known)
    (project / "pyproject.toml").write_text(text)
    run("guarantees", "--output", "GUARANTEES.md")
    expected = run("guarantees", "--check")

    assert surprised.exit_code == 1
    assert "the evidence says refuted" in surprised.stdout
    assert "<strong>crash()</strong>" in (project / "GUARANTEES.md").read_text()
    assert expected.exit_code == 0


def test_damaged_evidence_is_status_2(project):
    """Nothing is told from it."""
    [path, *_] = sorted((project / ".onceproof" / "evidence").glob("*.json"))
    path.write_text(path.read_text()[:-9])

    checked = run("guarantees", "--check")

    assert checked.exit_code == 2
    assert "is not JSON" in checked.output


def test_replays_of_a_part_leave_no_evidence():
    """And a folder is not mistaken for a sink; nothing is run for that."""
    part = run("replay", "foreach-batch-append", "--only", "1", "--evidence", "e")
    sink = run("replay", "--evidence", "foreach-batch-append")

    assert "leave out --evidence" in part.output
    assert "put it last" in sink.output


def test_evidence_that_cannot_be_read_is_refused_before_a_replay(tmp_path, monkeypatch):
    """What takes minutes is not begun: it could not leave what it finds."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    path = tmp_path / "e" / "foreach-batch-append.json"
    path.parent.mkdir()
    path.write_text("<<<<<<< HEAD")

    refused = run("replay", "foreach-batch-append", "--evidence=e")

    assert refused.exit_code == 2
    assert "is not JSON, so it is no evidence" in refused.output
    assert path.read_text() == "<<<<<<< HEAD"


@pytest.mark.grid
def test_the_repositorys_own_sheet_follows_from_its_evidence(monkeypatch):
    """Every claim of the library is in it. The CI runs the command itself."""
    monkeypatch.chdir(ROOT)

    checked = run("guarantees", "--check")

    assert checked.stdout.startswith("docs/guarantees.md follows"), checked.stdout
    lines = (ROOT / "docs" / "guarantees.md").read_text().split("\n")
    shown = {line.split(" | ")[0].removeprefix("| ") for line in lines}
    stores = settings_at(ROOT).stores
    subjects = {claim.subject for claim in library_claims(stores=stores)}
    assert {"foreach-batch-ledger", "postgres-ledger"} <= subjects <= shown
    assert len(lines) < 5 * len(subjects)


@pytest.mark.ci
def test_sinks_on_some_stores_are_claimed_without_those_on_others():
    """A project has evidence of the stores that it can run."""
    traces = Traces()
    every, some, none = (
        {claim.subject for claim in library_claims(traces, stores=stores)}
        for stores in (True, ("postgres",), False)
    )

    assert none < some < every
    assert "postgres-ledger" in some - none
    assert "delta-append" in every - some
    assert all(name.startswith("postgres-") for name in some - none)


def test_neither_java_nor_pyspark_is_needed_to_check(project):
    """A sheet is checked where there is no Spark at all."""
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(['pyspark', 'py4j', 'pandas']))\n"
        "from onceproof.spark_checks.cli import main\n"
        "main(['guarantees', '--check'])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "2 claims" in done.stdout


SINK = """
import pytest
from onceproof.spark_checks.sinks.interface import ForeachBatch

def flights(target):
    path = str(target.path / "flights")

    def write(batch, batch_id):
        batch.write.mode("append").parquet(path)

    return ForeachBatch(write, read=path)

@pytest.mark.effectively_once(key="flight_id", batches=1)
def test_flights(onceproof_replay):
    onceproof_replay(flights)
"""


@pytest.mark.grid
@pytest.mark.spark
def test_the_plugin_leaves_evidence_that_a_sheet_is_made_of(pytester, monkeypatch):
    """A second run leaves the very same."""
    pytester.makepyfile(test_flights=SINK)
    pytester.makepyprojecttoml(
        '[tool.onceproof]\nevidence = "kept"\n[[tool.onceproof.guarantees]]\n'
        'subject = "test_flights.py::flights"\nguarantee = "effectively-once"\n'
    )
    monkeypatch.chdir(pytester.path)

    pytester.runpytest_subprocess("--onceproof-evidence=kept", "--onceproof-most=8")
    first = read_folder(pytester.path / "kept")
    few = ("-o", "onceproof_evidence=kept", "--onceproof-most=8")
    pytester.runpytest_subprocess(*few)
    second = read_folder(pytester.path / "kept")

    assert first == second
    assert sorted(r.guarantee for r in first.values()) == [
        "effectively-once",
        "recoverable",
    ]
    [broken] = [r for r in first.values() if r.verdict is Verdict.REFUTED]
    assert broken.trace.failpoints
    assert broken.scope["sink"] == "ForeachBatch"
    assert [*broken.hashes.sources] == ["test_flights.py"]
    text = run("guarantees").stdout
    assert "readers see" in text
    assert "onceproof replay .onceproof/" in text
    assert str(pytester.path) not in text
    with (pytester.path / "test_flights.py").open("a") as file:
        file.write("#")
    assert "test_flights.py has changed" in run("guarantees", "--check", "x.md").stdout
