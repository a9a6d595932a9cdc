"""A claim's subject is named as its evidence is, however it was typed."""

from __future__ import annotations

import html
import shutil

import pytest

from onceproof.properties.evidence.store import read_folder
from onceproof.spark_checks.report.evidence.project_settings import settings_at
from tests.spark_checks.projects import PYPROJECT, SMALL, made, run

WITH_A_FAULT = (
    SMALL.replace("always, not_", "always, fault, not_")
    + '''
    @fault
    def reset(self) -> None:
        """It begins anew."""
        self.count = 0
'''
)


def claim(subject, guarantee, more=""):
    return (
        f'[[tool.onceproof.guarantees]]\nsubject = "{subject}"\n'
        f'guarantee = "{guarantee}"\n{more}\n'
    )


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Make a project with a sink, its evidence, and a protocol in a file."""
    made(tmp_path)
    (tmp_path / "counter.py").write_text(WITH_A_FAULT)
    monkeypatch.chdir(tmp_path)

    def state(*claims, head='[tool.onceproof]\nsheet = "S.md"\n'):
        (tmp_path / "pyproject.toml").write_text(head + "".join(claims))
        return tmp_path

    return state


def checked():
    run("guarantees", "--output", "S.md")
    return run("guarantees", "--check")


@pytest.mark.parametrize(
    ("subject", "guarantee", "asked"),
    [
        ("two-phase-commit --set RM=2", "agreement", "two-phase-commit --set RM=2"),
        ("--set=RM=2 two-phase-commit", "agreement", "two-phase-commit --set RM=2"),
        ("micro-batch --set sink=append", "durable", "micro-batch --set BATCH=1"),
        (
            "micro-batch --set BATCH=1 --set sink=upsert",
            "durable",
            "micro-batch --set sink=upsert --set BATCH=1",
        ),
        ("./counter.py", "is-small", "counter.py --set P=2"),
        ("counter.py:counter --set P=2", "is-small", "counter.py --set P=2"),
    ],
)
def test_a_protocol_is_claimed_as_it_is_checked(project, subject, guarantee, asked):
    """Sizes, parts that are the standard ones, and paths may be given or not."""
    project(claim(subject, guarantee))
    assert run("check", *asked.split(), "--evidence").exit_code in (0, 1)

    text = checked()

    assert (text.exit_code, text.stdout[:12]) == (0, "S.md follows"), text.stdout


def test_a_claim_at_one_size_is_not_supported_by_another(project):
    """The command that fixes is of that size, and fixes."""
    project(claim("two-phase-commit --set RM=2", "agreement"))
    run("check", "two-phase-commit", "--evidence")

    before = checked()
    again = before.stdout.strip().rpartition("; run onceproof ")[2]
    run(*again.split())
    after = checked()

    assert before.exit_code == 1
    assert again == "check two-phase-commit --set RM=2 --evidence"
    assert after.exit_code == 0


def test_the_command_that_mends_asks_for_as_many_faults_as_are_claimed(project):
    """Else it would be told again and again."""
    project(
        claim("counter.py", "is-small", "faults = 2"),
        claim("sinks/orders.py::orders", "durable", "faults = 2"),
        claim("foreach-batch-upsert", "durable", "faults = 2"),
    )

    text = checked().stdout

    assert "run onceproof check counter.py:counter --set faults=2 --evidence" in text
    assert "pytest --onceproof-faults=2 --onceproof-evidence=" in text
    assert "run onceproof replay foreach-batch-upsert --faults 2 --evidence" in text


@pytest.mark.parametrize("path", ["./sinks/orders.py", "sinks/../sinks/orders.py"])
def test_a_sink_may_be_named_by_any_path_to_it(project, path):
    """It is one sink."""
    project(claim(f"{path}::orders", "effectively-once"))

    assert checked().exit_code == 0


def test_the_mend_of_a_sink_names_the_folder_that_is_configured(project):
    """Where its evidence is looked for."""
    head = '[tool.onceproof]\nsheet = "S.md"\nevidence = "docs/evidence"\n'
    project(claim("sinks/orders.py::orders", "durable"), head=head)

    assert "pytest --onceproof-evidence=docs/evidence" in checked().stdout


def test_two_names_of_one_subject_are_one_claim(project):
    """Which is not to be stated twice."""
    one, other = "micro-batch", "micro-batch --set sink=append"
    project(claim(one, "durable"), claim(other, "durable"))

    refused = run("guarantees")

    assert refused.exit_code == 2
    assert "claim 2, says again what claim 1 does: durable of micro" in refused.output


def renamed(root):
    path = root / "sinks" / "orders.py"
    path.write_text(path.read_text().replace("def orders", "def sales"))


def moved(root):
    shutil.move(root / "counter.py", root / "elsewhere.py")


def broken(root):
    (root / "counter.py").write_text("class Counter(")


def unnamed(root):
    path = root / "counter.py"
    path.write_text(path.read_text().replace("is_small", "is_little"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (renamed, "sinks/orders.py has no function 'orders'"),
        (lambda root: (root / "sinks/orders.py").unlink(), "sinks/orders.py cannot be"),
        (moved, "there is no file counter.py"),
        (broken, "counter.py:1: SyntaxError: "),
        (unnamed, "counter.py:counter has no 'is-small'; it has is-little"),
    ],
)
def test_what_is_renamed_or_moved_blocks_no_other_claim(project, change, why):
    """Its own stands in the sheet, unsupported and with the reason; status 1."""
    root = project(
        claim("sinks/orders.py::orders", "effectively-once"),
        claim("counter.py:counter", "is-small", 'expected = "refuted"'),
        claim("two-phase-commit", "agreement"),
    )
    run("check", "counter.py", "--evidence")
    run("check", "two-phase-commit", "--evidence")
    assert checked().exit_code == 0

    change(root)
    found = checked()

    sheet = (root / "S.md").read_text()
    assert found.exit_code == 1
    assert why in found.stdout
    assert html.escape(why) in sheet
    assert "is stale" in found.stdout
    assert "unsupported" in sheet
    assert "| two-phase-commit | ✓ exhausted |" in sheet
    assert str(root) not in sheet


def test_evidence_lies_and_is_claimed_under_one_name(project):
    """For every claim that is stated of what there is."""
    root = project(claim("./counter.py --set P=2", "is-small"))
    run("check", "./counter.py", "--set", "P=2", "--evidence")

    [stated] = settings_at(root).stated()
    [record] = [
        r
        for r in read_folder(root / ".onceproof" / "evidence").values()
        if r.judge == "check"
    ]

    assert (stated.subject, dict(stated.sizes)) == (record.subject, {"P": 2})
    assert PYPROJECT not in (root / "pyproject.toml").read_text()
