"""``onceproof guarantees``: its forms, its options, and what it answers."""

from __future__ import annotations

import json

import pytest

from onceproof.properties.evidence.sheet import Claim
from onceproof.spark_checks.report.evidence import library_claims as library
from onceproof.spark_checks.report.evidence.library_claims import library_claims
from onceproof.spark_checks.sinks.reference import every_reference_sink
from tests.spark_checks.projects import ORDERS, run


def test_a_sheet_that_was_edited_or_is_gone_is_status_1(project):
    """It names the line, and the command that writes it anew."""
    sheet = project / "GUARANTEES.md"
    sheet.write_text(sheet.read_text().replace("✓ held |", "✓ proved |"))

    edited = run("guarantees", "--check")
    sheet.unlink()
    gone = run("guarantees", "--check", "GUARANTEES.md")

    assert (edited.exit_code, gone.exit_code) == (1, 1)
    assert "; run onceproof guarantees --output" in edited.stdout
    assert "GUARANTEES.md: it is not there; run onceproof guarantees" in gone.stdout


def test_every_form_can_be_written_and_checked(project):
    """The ending of the file says which it is."""
    for name, begins in {"s.html": "<!DOCTYPE", "s.json": "{", "s.md": "#"}.items():
        run("guarantees", "--output", name)

        assert (project / name).read_text().startswith(begins)
        assert run("guarantees", "--check", name).exit_code == 0
    assert json.loads(run("guarantees", "--json").stdout)["schema"] == 2
    assert run("guarantees", "--html").stdout.startswith("<!DOCTYPE")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--check", "--output", "y.md"], "leave out --output"),
        (["--check", "--html"], "leave out --html"),
        (["--json", "--output", "x.md"], "x.md is markdown by its ending; end it in"),
        (["--html", "--output", "x.json"], "leave out --html"),
        (["--html", "--json"], "exclude each other"),
        (["--drop", "x", "--check"], "leave out --check"),
    ],
)
def test_options_that_contradict_each_other_are_refused(project, words, answer):
    """And nothing is written."""
    before = sorted(project.iterdir())

    refused = run("guarantees", *words)

    assert refused.exit_code == 2
    assert answer in refused.output
    assert sorted(project.iterdir()) == before


def test_a_check_gives_its_answer_as_data(project):
    """The sheet is compared in the form that its ending says."""
    well = run("guarantees", "--check", "--json")
    with (project / "sinks" / "orders.py").open("a") as file:
        file.write(" ")
    stale = run("guarantees", "--check", "--json")

    assert (well.exit_code, stale.exit_code) == (0, 1)
    data, found = json.loads(well.stdout), json.loads(stale.stdout)
    assert data["follows"] is True
    assert (data["sheet"], data["claims"], data["problems"]) == ("GUARANTEES.md", 2, [])
    assert found["follows"] is False
    assert [problem["what"] for problem in found["problems"]] == [
        f"{ORDERS}, effectively-once",
        "GUARANTEES.md",
    ]
    assert "sinks/orders.py has changed" in found["problems"][0]["why"]
    assert found["problems"][1]["fix"].startswith("run onceproof guarantees")


def test_where_nothing_is_claimed_there_is_nothing_to_check(project):
    """So a check that was never set up does not pass."""
    (project / "pyproject.toml").write_text('[tool.onceproof]\nsheet = "S.md"\n')
    run("guarantees", "--output", "S.md")

    checked = run("guarantees", "--check")

    assert checked.exit_code == 2
    assert "nothing is claimed" in checked.output
    assert "[[tool.onceproof.guarantees]]" in checked.output


@pytest.mark.parametrize("words", [[], ["--library"]])
def test_what_the_library_states_is_claimed_where_that_is_asked_for(
    project, monkeypatch, words
):
    """By a key, or by an option, which the sheet and the fix then name."""
    key = "" if words else "library = true\n"
    (project / "pyproject.toml").write_text(f"[tool.onceproof]\n{key}")
    claimed = Claim("foreach-batch-upsert", "durable", "it stays")
    monkeypatch.setattr(library, "library_claims", lambda *_, **__: (claimed,))

    text = run("guarantees", *words).stdout
    checked = run("guarantees", "--check", "s.md", *words).stdout

    assert "| foreach-batch-upsert |" in text
    assert f"by `onceproof guarantees{' --library' * len(words)}`." in text
    assert f"run onceproof guarantees{' --library' * len(words)} --output s" in checked


@pytest.mark.grid
def test_the_library_claims_what_its_files_state():
    """Of each sink and each variant, all guarantees; refuted is what a file says."""
    claims = {(c.subject, c.guarantee): c.expected for c in library_claims()}

    sinks = every_reference_sink()
    assert {"postgres-upsert", "delta-append", "foreach-writer"} <= set(sinks)
    for name, sink in sinks.items():
        mine = {g: e for (s, g), e in claims.items() if s == name}
        assert {g for g, e in mine.items() if e == "refuted"} == sink.refuted
        assert {g for g, e in mine.items() if e == "undecided"} == sink.unseen
        assert "holds" in mine.values() or sink.refuted
    assert claims["chandy-lamport-unordered", "conserves"] == "refuted"
    assert claims["micro-batch --set sink=upsert", "atomic-visibility"] == "refuted"
    assert claims["micro-batch --set sink=upsert", "effectively-once"] == "holds"


def test_claims_of_sinks_whose_package_is_absent_are_not_left_out(
    project, without_duckdb
):
    """The sheet is refused, and says which package its claims need."""
    refused = run("guarantees", "--library")

    assert refused.exit_code == 2
    assert "need duckdb, and it is not installed" in refused.output
