"""Evidence is stale once what it is of has changed, or is gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onceproof.properties.evidence import fingerprints
from onceproof.properties.evidence.store import read_folder
from onceproof.properties.guarantees import (
    AT_MOST_ONCE,
    guarantees_of,
)
from onceproof.spark_checks.report.evidence import source_files
from onceproof.spark_checks.report.evidence.staleness import stale
from tests.spark_checks.projects import (
    ORDERS,
    PYPROJECT,
    SMALL,
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


def test_evidence_is_not_gone_where_a_package_is_absent(project, without_duckdb):
    """Nobody is told to remove what this machine alone cannot look at."""
    record = recorded(project, subject="duckdb-upsert")

    now = stale({record.address: record}, project)[record.address]

    assert not now.gone
    assert "need duckdb, which is not installed" in now.why[0]


def test_evidence_of_what_is_gone_is_stale_and_no_error(project):
    """It says what cannot be made again."""
    other = recorded(project, subject="gone.py::sink", prop=AT_MOST_ONCE)
    lost = recorded(project, subject="no-such-protocol", judge="check")
    found = {one.address: one for one in (other, lost)}

    now = stale(found, project)

    assert "gone.py cannot be read: No such file" in now[other.address].why[0]
    assert "cannot be made again: unknown protocol" in now[lost.address].why[0]
    assert all(one.gone for one in now.values())
