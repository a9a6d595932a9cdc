"""What a journal recalls is what was noted, or nothing at all."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import fields, replace

import pytest

from onceproof.model.errors import UsageError
from onceproof.properties.ledger import EventOutcome, History, Row
from onceproof.spark_checks.replay.conformance.trace_check import TraceCheck
from onceproof.spark_checks.replay.journal.journal import Head, Journal
from onceproof.spark_checks.replay.journal.journals import Journals, found_with
from onceproof.spark_checks.replay.journal.recording import Recording
from onceproof.spark_checks.replay.journal.records import (
    digest_of,
    record_in,
    record_of,
    runs_of,
)
from onceproof.spark_checks.replay.outcome import Outcome
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.replay.run_evidence import Resumed, RunRecord, Sent
from onceproof.spark_checks.sinks.code_points import CodePoint
from onceproof.spark_checks.sinks.exchanges import Exchange

SEEN = History(
    moments=("after the crash", "at rest"),
    rows=(
        Row(0, True, (EventOutcome(False, 0), EventOutcome(True, 2)), 421, "a flight"),
        Row(1, True, (EventOutcome(False, 1), EventOutcome(True, 1)), 421),
    ),
    unexplained=(0, 3),
    rested=False,
    strays=("", "a stray"),
    unread=(0,),
    errors=("no table",),
    counted="row",
)
RUNS = (
    RunRecord(
        how=("dies at line 4",),
        stop="crash",
        moment="after the crash",
        ran={0: ("line 1", "line 4"), 1: ()},
        committed=frozenset({0}),
        state=3,
        unreadable="no table",
        caught=True,
        went_on={0: (CodePoint("line 5", 2, unchanged=True), CodePoint("line 6"))},
        resumed=(
            Resumed(0, 1, (CodePoint("line 5", 2),), (Exchange("line 5", 2, 1, 1, 3),)),
        ),
        sent=(Sent(1, -1, (Exchange("line 5", 1, 1, 1, 1),)),),
        uncut={"sent while several threads of your code run": 2},
        worked={(0, 1): ("line 9",), (1, 0): ()},
        in_tasks=frozenset({"line 9"}),
        in_threads=frozenset({"line 7"}),
    ),
    RunRecord(how=(), stop="", moment="at rest", state=7),
)
FOUND_WITH = {"code": "1", "packages": "2"}
HEAD = Head("append", {"faults": 1}, FOUND_WITH)


class Steps:
    """A trace of as many events as a plan needs to be told from others."""

    def __init__(self, *events):
        self.events = events
        self.states = list(range(10))


class OneOf:
    def __init__(self, number, *events):
        self.number, self.trace = number, Steps(*events)


class Plan:
    """A plan with steps, and no rules."""

    refusal = ""
    hits = ()
    runs = ()

    def __init__(self, number, *events):
        self.interleaving = OneOf(number, *events)


FIRST, SECOND = Plan(1, "crash"), Plan(2, "write", "crash")


def outcome(plan=FIRST, **changes):
    made = Outcome(
        plan.interleaving,
        model=None,
        spark=SEEN,
        failpoints=(),
        seconds=1.25,
        unplanned=("an error",),
        runs=RUNS,
        released_early=True,
        failed_first="Spark was slow",
    )
    return replace(made, **changes)


def opened(folder, head=HEAD, *, resume=True):
    return Journal(folder, head, resume=resume)


def recalled(folder, plan=FIRST, head=HEAD):
    """Open a journal anew, recall a plan, and say why nothing was recalled."""
    journal = opened(folder, head)
    found = Recording(journal, 1).recall(plan, lambda *_: None)
    journal.close()
    return found, journal.changed


@pytest.fixture
def readable(monkeypatch):
    """Let readers see each moment, so that nothing has to be looked into."""
    monkeypatch.setattr(Outcome, "unread", "")


def noted(folder, *outcomes):
    journal = opened(folder, resume=False)
    recording = Recording(journal, 1)
    for plan, one in outcomes:
        recording.note(plan, one)
    journal.close()
    return journal.path


def test_a_record_is_read_as_it_was_written():
    """Each field of the runs, and each of what readers saw, comes back."""
    assert all(getattr(RUNS[0], one.name) for one in fields(RunRecord))
    record = record_of(outcome(), "d1")

    found = record_in(json.loads(json.dumps(record.to_json())))

    assert found == record
    assert runs_of(found) == RUNS
    assert (found.seen, found.seen.strays, found.seen.errors) == (
        SEEN,
        SEEN.strays,
        SEEN.errors,
    )
    assert found.seen.rows[0].example == "a flight"
    assert found.seen.counted == "row"
    point = runs_of(found)[0].went_on[0][0]
    assert point.unchanged


def test_an_outcome_is_recalled_whole(tmp_path, readable):
    noted(tmp_path, (FIRST, outcome()))

    found, changed = recalled(tmp_path)

    assert found == outcome()
    assert changed == ""


def test_a_plan_with_other_steps_or_rules_is_not_recalled(tmp_path, readable):
    noted(tmp_path, (FIRST, outcome()))
    other = Plan(1, "crash")
    other.runs = (("another rule",),)

    assert recalled(tmp_path, Plan(1, "crash of another batch")) == (None, "")
    assert recalled(tmp_path, SECOND) == (None, "")
    assert digest_of(other, 1) != digest_of(FIRST, 1)
    assert digest_of(FIRST, 2) != digest_of(FIRST, 1)


def test_what_deserves_to_be_looked_into_is_replayed_again(tmp_path, readable):
    """And so is every later replay of the same interleaving."""
    drifted = outcome(model=replace(SEEN, rested=True))
    assert drifted.drift

    noted(tmp_path, (FIRST, drifted), (FIRST, outcome()), (SECOND, outcome(SECOND)))

    assert recalled(tmp_path)[0] is None
    assert recalled(tmp_path, SECOND)[0] is not None


def test_what_drifts_by_the_model_of_today_is_not_recalled(tmp_path, readable):
    noted(tmp_path, (FIRST, outcome()))
    journal = opened(tmp_path)

    found = Recording(journal, 1).recall(FIRST, lambda *_: replace(SEEN, rested=True))

    assert found is None


def test_steps_that_no_model_explains_are_replayed_again(tmp_path, readable):
    """And that they were explained, or why they were not compared, is recalled."""
    explained = TraceCheck(checked=True)
    left = TraceCheck(unchecked="a checkpoint was edited between two runs")
    strange = TraceCheck(checked=True, unexplained=("no behaviour explains it",))

    noted(tmp_path / "a", (FIRST, outcome(trace=explained)))
    noted(tmp_path / "b", (FIRST, outcome(trace=left)))
    noted(tmp_path / "c", (FIRST, outcome(trace=strange)))

    assert recalled(tmp_path / "a")[0].trace == explained
    assert recalled(tmp_path / "b")[0].trace == left
    assert recalled(tmp_path / "c") == (None, "")


def test_what_was_not_replayed_is_not_noted(tmp_path, readable):
    path = noted(tmp_path, (FIRST, outcome(spark=None, not_replayed="a lock")))

    assert len(path.read_text().splitlines()) == 1


def test_each_replay_of_an_interleaving_is_recalled_once_and_in_order(
    tmp_path, readable
):
    """The first one counts, and the others confirm what it broke."""
    noted(tmp_path, (FIRST, outcome()), (FIRST, outcome(seconds=2.5)))
    recording = Recording(opened(tmp_path), 1)

    found = [recording.recall(FIRST, lambda *_: None) for _ in range(3)]

    assert [one and one.seconds for one in found] == [1.25, 2.5, None]
    assert recording.recalled == 2


def test_a_line_that_was_cut_off_is_left_out_and_written_again(tmp_path, readable):
    """A process that is killed may have written half of its last line."""
    path = noted(tmp_path, (FIRST, outcome()), (SECOND, outcome(SECOND)))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])

    journal = opened(tmp_path)
    recording = Recording(journal, 1)
    assert recording.recall(FIRST, lambda *_: None) is not None
    assert recording.recall(SECOND, lambda *_: None) is None
    recording.note(SECOND, outcome(SECOND))
    journal.close()

    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("old", "new"),
    [('"visible":2', '"visible":1'), ('"state":3', '"state":300'), ('{"record"', "{")],
)
def test_a_line_that_was_changed_makes_all_be_replayed_anew(
    tmp_path, readable, old, new
):
    """A count that is changed by hand would else be a verdict that nobody found."""
    path = noted(tmp_path, (FIRST, outcome()), (SECOND, outcome(SECOND)))
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))

    found, changed = recalled(tmp_path, SECOND)

    assert found is None
    assert changed.startswith("line 2 is damaged: ")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no JSON", "line 1 is damaged: "),
        ("[]", "another form"),
        ('{"format": "another"}', "another form"),
        ('{"found_with": {"code": "1"}}', "other packages"),
    ],
)
def test_another_first_line_makes_all_be_replayed_anew(tmp_path, readable, line, why):
    path = noted(tmp_path, (FIRST, outcome()))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([line, *lines[1:], ""]))

    found, changed = recalled(tmp_path)

    assert found is None
    assert changed.startswith(why)


def test_other_code_or_versions_make_all_be_replayed_anew(tmp_path, readable):
    """What differs is named."""
    noted(tmp_path, (FIRST, outcome()))
    other = replace(HEAD, found_with={**FOUND_WITH, "packages": "3", "postgres": "17"})

    assert recalled(tmp_path, head=other) == (None, "other packages, postgres")


def test_without_resume_all_is_replayed_anew(tmp_path, readable):
    noted(tmp_path, (FIRST, outcome()))
    opened(tmp_path, resume=False).close()

    assert recalled(tmp_path) == (None, "")


def test_what_is_asked_for_otherwise_has_another_journal():
    asked = ReplayRequest().asked
    other = replace(ReplayRequest(), faults=2).asked

    assert Head("s", asked, {}).file != Head("s", other, {}).file
    assert Head("s", asked, {}).file == Head("s", dict(asked), {"code": "2"}).file


def hold(folder, ready, over):
    journal = opened(folder, resume=False)
    ready.set()
    over.wait(60)
    journal.close()


def test_two_processes_do_not_write_one_journal(tmp_path):
    """The second one is told so."""
    fresh = multiprocessing.get_context("spawn")
    ready, over = fresh.Event(), fresh.Event()
    other = fresh.Process(target=hold, args=(tmp_path, ready, over))
    other.start()
    try:
        assert ready.wait(60)
        with pytest.raises(UsageError, match="another replay of the same is going on"):
            opened(tmp_path)
    finally:
        over.set()
        other.join()


def test_journals_are_kept_until_nothing_is_left(tmp_path, readable):
    """A journal without a record is of no use, and is not kept."""
    journals = Journals(tmp_path, resume=True)
    first = journals.of("one", {}, {})
    journals.of("two", {}, {})
    Recording(first, 1).note(FIRST, outcome())

    journals.close(done=False)

    assert [path.name for path in journals.folder.iterdir()] == [first.path.name]
    assert journals.hold_any

    journals = Journals(tmp_path, resume=True)
    journals.of("one", {}, {})
    journals.close(done=True)

    assert not journals.folder.exists()
    assert not journals.hold_any


def test_the_code_the_packages_and_the_settings_are_compared(monkeypatch):
    before = found_with()
    monkeypatch.setenv("SPARK_CONF_DIR", "elsewhere")
    after = found_with()

    assert {name for name in before if before[name] != after[name]} == {
        "settings in the environment"
    }
