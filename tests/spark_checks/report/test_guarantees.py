"""A written sheet is checked against evidence, and evidence against what it is of."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onceproof.properties.evidence import fingerprints
from onceproof.properties.evidence.record import TraceEvidence
from onceproof.properties.evidence.store import read_folder, write
from onceproof.properties.guarantees import (
    AT_MOST_ONCE,
    guarantees_of,
)
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.report.evidence import source_files
from onceproof.spark_checks.report.evidence.library_claims import library_claims
from onceproof.spark_checks.report.evidence.staleness import stale
from tests.spark_checks.projects import (
    ORDERS,
    PYPROJECT,
    SMALL,
    made,
    recorded,
    run,
)

ROOT = Path(__file__).parents[3]


COUNTER = '''
from onceproof.model.language import Protocol, action, always, state, when

class Counter(Protocol):
    """Counts to two."""

    count = state(0, high=2)

    @action
    def step(self) -> None:
        """One more."""
        when(self.count < 2)
        self.count = self.count + 1

    @always
    def is_small(self) -> bool:
        """The count is small."""
        return self.count <= 2
'''


WIDE = '''
    @always
    def is_wide(self) -> bool:
        """The count is wide."""
        return self.count >= 0
'''


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Make a project with a sink, its evidence, and its sheet."""
    made(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run("check", "two-phase-commit", "--evidence").exit_code == 0
    assert run("guarantees", "--output", "GUARANTEES.md").exit_code == 0
    return tmp_path


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


@pytest.mark.parametrize("name", ["orders", "names"])
def test_one_byte_of_a_sinks_code_is_noticed(project, name):
    """Of its own file, and of what it imports of its project; not of any other."""
    with (project / "sinks" / "other.py").open("a") as other:
        other.write(" ")
    assert run("guarantees", "--check").exit_code == 0
    with (project / "sinks" / f"{name}.py").open("a") as file:
        file.write(" ")

    checked = run("guarantees", "--check")

    assert checked.exit_code == 1
    assert f"is stale: sinks/{name}.py has changed; run pytest " in checked.stdout
    assert f"{ORDERS}, effectively-once" in checked.stdout


def test_a_models_term_that_moved_is_noticed(project):
    """Of a protocol in a file; its comments may change."""
    (project / "counter.py").write_text(COUNTER)
    claim = '\n[[tool.onceproof.guarantees]]\nsubject = "counter.py:counter"\n'
    (project / "pyproject.toml").write_text(
        PYPROJECT + claim + 'guarantee = "is-small"\n'
    )
    run("check", "counter.py", "--evidence")
    run("guarantees", "--output", "GUARANTEES.md")

    (project / "counter.py").write_text(COUNTER.replace("One more", "Another"))
    told_otherwise = run("guarantees", "--check")
    (project / "counter.py").write_text(COUNTER.replace("count < 2", "count < 1"))
    moved = run("guarantees", "--check")

    assert told_otherwise.exit_code == 0
    assert moved.exit_code == 1
    assert "stale: the model's terms have changed; run onceproof check" in moved.stdout


def test_a_property_that_moved_is_noticed(project, monkeypatch):
    """Its terms are what was claimed."""
    [agreement] = [p for p in guarantees_of_two_phase() if p.name == "agreement"]
    weaker = agreement.clauses[0].__class__(
        "at_rest", agreement.clauses[0].text, agreement.clauses[0].holds
    )

    monkeypatch.setitem(vars(agreement), "clauses", (weaker,))
    checked = run("guarantees", "--check")

    assert checked.exit_code == 1
    assert "stale: the property has changed" in checked.stdout


def guarantees_of_two_phase():
    from onceproof.model.library import make

    return guarantees_of(make("two-phase-commit", {}))


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


def test_a_stale_refutation_stays_when_a_smaller_run_holds(project):
    """It is shown and no claim holds until the run that found it is made again."""
    (project / "counter.py").write_text(SMALL)
    claim = 'subject = "counter.py:counter"\nguarantee = "is-small"\n'
    (project / "pyproject.toml").write_text(
        f"[tool.onceproof]\n[[tool.onceproof.guarantees]]\n{claim}"
    )
    run("check", "counter.py", "--evidence")
    again = SMALL.replace("count < 3)", "count < 3, self.count <= 2)")
    (project / "counter.py").write_text(again)
    run("check", "counter.py", "--set", "P=2", "--evidence")
    run("guarantees", "--output", "S.md")

    checked = run("guarantees", "--check", "S.md")

    assert checked.exit_code == 1
    assert "which refutes it, is stale: the model's terms have changed" in (
        checked.stdout
    )
    assert "run onceproof check counter.py:counter --set P=3 --evidence" in (
        checked.stdout
    )
    sheet = (project / "S.md").read_text()
    assert "since it was refuted with model counter, P 3" in sheet
    assert ", found before it changed, of 0 faults breaks is-small" in sheet


def test_a_record_of_a_property_that_is_no_more_is_reported(project):
    """With the command that removes it; a record that is live is not removed."""
    claim = 'subject = "counter.py:counter"\nguarantee = "is-small"\n'
    (project / "pyproject.toml").write_text(
        f"[tool.onceproof]\n[[tool.onceproof.guarantees]]\n{claim}"
    )
    (project / "counter.py").write_text(COUNTER + WIDE)
    run("check", "counter.py", "--evidence")
    (project / "counter.py").write_text(COUNTER)
    run("guarantees", "--output", "S.md")

    checked = run("guarantees", "--check", "S.md")
    [line] = checked.stdout.splitlines()
    lost = re.search("--drop (.*)$", line)[1]
    live = lost.replace("is-wide", "is-small")
    refused = run("guarantees", "--drop", live)
    unknown = run("guarantees", "--drop", f"{lost}x")
    dropped = run("guarantees", "--drop", lost)
    run("guarantees", "--output", "S.md")

    assert checked.exit_code == 1
    assert "counter.py:counter has no property is-wide any more" in line
    assert refused.exit_code == unknown.exit_code == 2
    assert "is not stale: it is evidence" in refused.output
    assert "has no record" in unknown.output
    assert dropped.exit_code == 0
    assert run("guarantees", "--check", "S.md").exit_code == 0


@pytest.mark.parametrize("text", ["this is no Python", "import nothing_of_that_name"])
def test_a_model_that_cannot_be_made_just_now_is_stale_and_not_gone(project, text):
    """Nobody is told to remove what an unfinished edit hides."""
    (project / "counter.py").write_text(COUNTER)
    run("check", "counter.py", "--evidence")
    (project / "counter.py").write_text(text)
    found = read_folder(project / ".onceproof" / "evidence")

    [one] = [s for s in stale(found, project).values() if "counter" in s.record.subject]

    assert not one.gone


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


@pytest.mark.ci
def test_the_repositorys_own_sheet_follows_from_its_evidence(monkeypatch):
    """Fast, since nothing is searched; and every claim of the library is in it."""
    monkeypatch.chdir(ROOT)
    began = time.perf_counter()

    checked = run("guarantees", "--check")

    assert checked.stdout.startswith("docs/guarantees.md follows"), checked.stdout
    assert time.perf_counter() - began < 30
    lines = (ROOT / "docs" / "guarantees.md").read_text().split("\n")
    shown = {line.split(" | ")[0].removeprefix("| ") for line in lines}
    assert {claim.subject for claim in library_claims()} <= shown
    assert len(lines) < 400


@pytest.mark.ci
def test_one_byte_of_a_reference_sink_is_noticed(monkeypatch):
    """In the repository's own evidence too."""
    found = read_folder(ROOT / "docs" / "evidence")
    upsert = {n: r for n, r in found.items() if r.subject == "foreach-batch-upsert"}
    changed = "spark_checks/sinks/reference/upsert.py has changed"
    before = [one.why for one in stale(upsert, ROOT).values()]
    real = fingerprints.of_file
    monkeypatch.setattr(
        source_files,
        "of_file",
        lambda p: real(p)[::-1] if p.stem == "upsert" else real(p),
    )

    now = stale(upsert, ROOT)

    assert now.keys() == upsert.keys()
    assert all(changed in one.why for one in now.values())
    assert not any(changed in why for why in before)


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


def test_evidence_of_what_is_gone_is_stale_and_no_error(project):
    """It says what cannot be made again."""
    other = recorded(project, subject="gone.py::sink", prop=AT_MOST_ONCE)
    lost = recorded(project, subject="no-such-protocol", judge="check")
    found = {one.address: one for one in (other, lost)}

    now = stale(found, project)

    assert "gone.py cannot be read: No such file" in now[other.address].why[0]
    assert "cannot be made again: unknown protocol" in now[lost.address].why[0]
    assert all(one.gone for one in now.values())


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
