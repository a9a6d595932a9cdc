"""``onceproof check --output`` writes what it refutes as files to be looked at."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner

from onceproof.properties.counterexample.file import read
from onceproof.properties.explorer.view_builder import explored
from onceproof.spark_checks.cli import main

OWN = """
from onceproof.model.language import Protocol, action, always, state

class Counts(Protocol):
    \"\"\"Counts.\"\"\"

    many = state(0, high=2)

    @action
    def one_more(self) -> None:
        \"\"\"One more is counted.\"\"\"
        from onceproof.model.language import when
        when(self.many < 2)
        self.many = self.many + 1

    @always
    def few(self) -> bool:
        \"\"\"It is never two.\"\"\"
        return self.many < 2
"""


def test_each_refuted_property_has_a_file_that_can_be_explored(tmp_path):
    """The next command is printed, and the file holds the run that was found."""
    command = ["check", "micro-batch", "--set", "PARTITION=1", "--output"]

    answer = CliRunner().invoke(main, [*command, str(tmp_path)])

    files = sorted(path.name for path in tmp_path.iterdir())
    assert answer.exit_code == 1
    assert "micro-batch--at-most-once.json" in files
    assert all(name.startswith("micro-batch--") for name in files)
    for name in files:
        shown = shlex.join(["onceproof", "explore", str(tmp_path / name)])
        assert shown in answer.stdout
    view = explored(read(tmp_path / "micro-batch--at-most-once.json")).view
    assert view.live
    assert view.parameters["PARTITION"] == 1
    assert view.strips[0].first == view.fails_at == len(view.steps)


def test_a_run_can_be_asked_for_in_which_no_other_fault_happens():
    """The shortest of all has another one; without any, nothing breaks."""
    asked = ["explore", "micro-batch-unreliable", "--property", "at-most-once"]

    def faults(*more: str) -> set[str]:
        answer = CliRunner().invoke(main, [*asked, *more, "--json"])
        steps = json.loads(answer.stdout)["steps"]
        return {s["event"].partition("(")[0] for s in steps if s["kind"] == "fault"}

    assert faults("--fault", "late-commit-request") == {"late_commit_request"}
    assert faults() != {"late_commit_request"}
    assert faults("--fault", "none") == set()
    unknown = CliRunner().invoke(main, [*asked, "--fault", "crsh"])
    assert unknown.exit_code == 2
    assert "did you mean 'crash'?" in unknown.stderr
    without = ["explore", "chandy-lamport", "--property", "conserves"]
    answer = CliRunner().invoke(main, [*without, "--fault", "crash"])
    assert answer.exit_code == 2
    assert "chandy-lamport has no fault" in answer.stderr


def test_a_matrix_beside_evidence_that_is_not_there_is_refused(tmp_path):
    """It would leave the column of Spark empty without a word."""
    asked = ["matrix", "--only", "filter-and-join", "--evidence", str(tmp_path / "no")]

    answer = CliRunner().invoke(main, asked)

    assert answer.exit_code == 2
    assert "there is no folder" in answer.stderr


def test_json_lists_the_files(tmp_path):
    """By the property that each refutes; there is nothing else on stdout."""
    command = ["check", "micro-batch", "--property", "at-most-once", "--json"]

    answer = CliRunner().invoke(main, [*command, "--output", str(tmp_path / "deep")])

    path = tmp_path / "deep" / "micro-batch--at-most-once.json"
    assert json.loads(answer.stdout)["files"] == {"at-most-once": str(path)}
    assert path.is_file()


SENDS = """
from typing import NamedTuple
from onceproof.model.language import *

class Vote(NamedTuple):
    voter: Member
    term: int

class Votes(Protocol):
    P = Sort("process")
    last = state(Vote(nobody_of(P), 0), per=P, high=1)
    link = channels(Vote(member_of(P), 0), per=P, length=1, high=1)

    @action(per=(P, P))
    def vote(self, p: Member, q: Member) -> None:
        self.link[q].send(Vote(p, 1))

    @action(per=P)
    def hear(self, q: Member) -> None:
        self.last[q] = self.link[q].receive()

    @always(per=P)
    def is_deaf(self, p: Member) -> bool:
        return self.last[p] == Vote(nobody, 0)
"""


def test_json_shows_changes_in_words_as_every_report_does(tmp_path):
    """Messages by their content, records by their parts, members by their sort."""
    path = tmp_path / "votes.py"
    path.write_text(SENDS)

    found = json.loads(CliRunner().invoke(main, ["check", str(path), "--json"]).stdout)

    steps = found["counterexamples"]["is-deaf"]["steps"]
    assert steps[0]["changes"] == {"link[process 0]": "[(voter process 0, term 1)]"}
    assert steps[1]["changes"] == {
        "last[process 0].voter": "process 0",
        "last[process 0].term": 1,
        "link[process 0]": "[]",
    }
    assert found["counterexamples"]["is-deaf"]["ends_in"]["last[process 0].term"] == 1


def test_what_holds_leaves_no_file(tmp_path):
    """The folder is there, and empty; no command is named."""
    command = ["check", "two-phase-commit", "--set", "RM=2", "--output", str(tmp_path)]

    answer = CliRunner().invoke(main, command)

    assert answer.exit_code == 0
    assert "onceproof explore" not in answer.stdout
    assert not list(tmp_path.iterdir())


def test_a_protocol_of_ones_own_is_found_again_from_its_file(tmp_path, monkeypatch):
    """The file names the Python file as it was typed, so that it can be stepped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    (tmp_path / "counts.py").write_text(OWN)

    answer = CliRunner().invoke(main, ["check", "counts.py", "--output", "out"])

    assert answer.exit_code == 1
    assert "onceproof explore out/counts--few.json" in answer.stdout
    assert explored(read(tmp_path / "out" / "counts--few.json")).view.live


def test_no_code_is_run_for_a_file_that_names_what_lies_elsewhere(
    tmp_path, monkeypatch
):
    """It is shown without its model, which says why; nothing of the code has run."""
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    (tmp_path / "counts.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(main, ["check", "counts.py", "--output", "here"])
    (tmp_path / "counts.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n{OWN}")
    monkeypatch.chdir(tmp_path / "here")
    counterexample = replace(read(Path("counts--few.json")), protocol="../counts.py")

    view = explored(counterexample).view

    assert not view.live
    assert any("it lies outside of the project's folder" in note for note in view.notes)
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_search():
    """It is one sentence, and exit status 2."""
    command = ["check", "micro-batch", "--output", "/proc/none"]

    answer = CliRunner().invoke(main, command)

    assert answer.exit_code == 2
    assert "cannot be written to" in answer.stderr
