"""A protocol in a file of one's own is found, described, and shown as it runs."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from onceproof.spark_checks.cli import main

FILE = '''"""Counters."""

from onceproof.model.language import Protocol, action, fault, state, step, when


class SmallCounter(Protocol):
    """Count, and forget; a cache is lost in a crash.."""

    n = state(0, high=3)
    cached = state(False, volatile=True)

    @action
    def count(self):
        """One more."""
        when(self.n < 3)
        self.n = self.n + 1

    @fault
    def crash(self):
        """What is not on disk is lost."""
        self.lose_volatile()

    @step
    def grows(before, after):
        """The counter grows with every step."""
        return after.n > before.n


class PlainCounter(SmallCounter):
    """Count."""

    @fault
    def crash(self):
        """Nothing is lost, and so nothing is waited for."""
        when(self.cached)
        self.lose_volatile()
'''


@pytest.fixture
def counters(tmp_path):
    path = tmp_path / "counters.py"
    path.write_text(FILE, encoding="utf-8")
    return path


def run(*words):
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.mark.parametrize("name", ["plain-counter", "PlainCounter"])
def test_a_protocol_is_named_as_the_command_line_or_as_python_does(counters, name):
    done = run("check", f"{counters}:{name}", "--json")

    assert json.loads(done.stdout)["protocol"] == "plain-counter"


def test_a_name_that_is_neither_is_refused(counters):
    done = run("check", f"{counters}:Plaincounter")

    assert done.exit_code == 2
    assert "did you mean 'plain-counter'?" in done.stderr


def test_a_fault_that_changes_nothing_is_a_step_and_says_so(counters):
    """It spends one of the faults that may happen."""
    done = run("check", f"{counters}:small-counter")

    assert done.exit_code == 1
    [line] = [one for one in done.stdout.splitlines() if "crash()" in one]
    assert line.endswith(
        "crash()  nothing else changes, and one fault fewer may follow"
    )


def test_a_description_has_nothing_that_is_not_there(counters):
    """No source, no variants, and each full stop once."""
    done = run("protocols", f"{counters}:plain-counter")

    lines = done.stdout.splitlines()
    assert lines[:2] == ["plain-counter: Count.", ""]
    assert "Variants" not in lines
    assert "Actions" in lines


INHERITING = """
from onceproof.model.language import *
from onceproof.model.protocols.barrier_snapshot import BarrierSnapshot
from onceproof.model.protocols.parts.barriers.outputs import AppendAtOnce, Output

class MyRows(AppendAtOnce):
    "The same rows; nothing is stated."

class MyJob(BarrierSnapshot):
    "A job that appends."

    output = part(Output, default=MyRows)
"""


def test_what_a_part_of_the_library_states_is_not_the_files_own(tmp_path):
    """The file states nothing, so a refuted claim is reported, with its run."""
    path = tmp_path / "my_job.py"
    path.write_text(INHERITING)
    stating = tmp_path / "stating.py"
    own = '    breaks = ("at-most-once", "effectively-once")\n\nclass MyJob'
    stating.write_text(INHERITING.replace("\nclass MyJob", own))

    found = run("check", str(path))
    stated = run("check", str(stating))

    assert found.exit_code == 1
    assert "at-most-once and effectively-once fail" in found.stdout
    assert stated.exit_code == 0
    assert "1 of 1 are as stated" in stated.stdout


HEAD = """
from onceproof.model.language import *
from onceproof.model.protocols.barrier_snapshot import BarrierSnapshot
from onceproof.model.protocols.ordered_batches import OrderedBatchesMismatched
from onceproof.model.protocols.parts.barriers.outputs import AppendAtOnce, Output
"""
TWO = """
class Mine(OrderedBatchesMismatched):
    "It states nothing."

class Other(BarrierSnapshot):
    "Another."
"""
ANOTHER_PART = """
class MyRows(AppendAtOnce):
    "The same rows; nothing is stated."

class Unused(AppendAtOnce):
    "It breaks nothing."

    breaks = ()

class MyJob(BarrierSnapshot):
    "A job that appends."

    output = part(Output, default=MyRows)

class OtherJob(BarrierSnapshot):
    "Another."

    output = part(Output, default=Unused)
"""
ELSEWHERE = """
class MyRows(AppendAtOnce):
    "What is stated is not of this job."

    breaks_in = {"elsewhere": ("at-most-once", "effectively-once")}

class MyJob(BarrierSnapshot):
    "A job that appends."

    output = part(Output, default=MyRows)

class Other(BarrierSnapshot):
    "Another."
"""


@pytest.mark.parametrize("text", [TWO, ANOTHER_PART, ELSEWHERE])
def test_nothing_in_a_file_excuses_what_it_does_not_state(tmp_path, text):
    """Neither does another protocol of it, another part, nor one stated elsewhere."""
    path = tmp_path / "mine.py"
    path.write_text(HEAD + text)

    done = run("check", str(path), "--json")

    assert done.exit_code == 1
    found = {
        one["protocol"].partition(":")[2]: one
        for one in json.loads(done.stdout)
        if not one["set"]
    }
    first = found.get("mine") or found["my-job"]
    assert not first["as_expected"]
    assert first["expected_to_break"] == []


BESIDE = """
from onceproof.model.language import *
from onceproof.model.protocols.parts.reprocessing.rows import RowsAppended, RowsByKey

class MyRows(RowsAppended):
    "The same rows; nothing is stated."

class Writes(Protocol):
    "Writes an event twice."

    E = Sort("event", size=1)
    rows = part(RowsByKey)
    number = state(0, high=2, per=E)
    times = state(0, high=2, per=E)

    @action(per=E)
    def write(self, e):
        "It is written, once or again."
        when(self.times[e] < 2)
        self.number[e] = self.rows.after(self.number[e])
        self.times[e] = self.times[e] + 1

    @observe(per=E)
    def visible(self, e):
        "Readers see each row."
        return self.number[e]

class Other(Writes):
    "Another."
"""


def test_a_part_of_a_file_is_excused_by_its_own_statements_in_any_slot(tmp_path):
    """A part of the library in the same slot is excused by those of the library."""
    path = tmp_path / "mine.py"
    path.write_text(BESIDE)

    done = run("check", str(path), "--json")

    found = {
        (one["protocol"].partition(":")[2], *one["set"].values()): one
        for one in json.loads(done.stdout)
    }
    assert done.exit_code == 1
    assert found["writes",]["as_expected"]
    assert found["writes", "my-rows"]["expected_to_break"] == []
    assert not found["writes", "my-rows"]["as_expected"]
    assert "at-most-once" in found["writes", "rows-appended"]["expected_to_break"]


FORGETTING = """
from onceproof.model.language import *
from onceproof.model.protocols.barrier_snapshot import BarrierSnapshot
from onceproof.model.protocols.parts.barriers.outputs import Output

class MyRows(Output):
    "Writes rows, and does not say that readers see them."

    rows = state(0, high=2, per=(BarrierSnapshot.S, BarrierSnapshot.E))

    def process(self, s, e):
        "One row more."
        super().process(s, e)
        self.rows[s, e] = min_of(self.rows[s, e] + 1, 2)

class MyJob(BarrierSnapshot):
    "A job that writes rows."

    output = part(Output, default=MyRows)
"""


def test_state_that_nothing_depends_on_is_named(tmp_path):
    """What holds then holds of something else: nobody sees these rows."""
    path = tmp_path / "my_job.py"
    path.write_text(FORGETTING)
    seen = tmp_path / "seen.py"
    visible = (
        "    def visible(self, s, e, processed):\n"
        '        "Readers see each row."\n'
        "        return self.rows[s, e]\n\nclass MyJob"
    )
    seen.write_text(FORGETTING.replace("class MyJob", visible))

    forgot = run("check", f"{path}:my-job")
    shown = run("check", f"{seen}:my-job")
    data = json.loads(run("check", f"{path}:my-job", "--json").stdout)

    assert "state that no guard and no claim depends on: output.rows" in forgot.stdout
    assert data["never_read"] == ["output.rows"]
    assert "depends on" not in shown.stdout
    assert shown.exit_code == 1
