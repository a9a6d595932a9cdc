"""A moment that no reader could read: what is said of it, and what a replay answers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.properties.guarantees import ATOMIC_VISIBILITY, RECOVERABLE
from onceproof.properties.ledger import EventOutcome, History, Row
from onceproof.properties.words.readers import readers_see
from onceproof.spark_checks.inject.failures.failure_reason import reason
from onceproof.spark_checks.inject.forked_driver import DriverDiedError
from onceproof.spark_checks.replay.outcome import Outcome
from onceproof.spark_checks.replay.run_evidence import RunRecord
from onceproof.spark_checks.replay.sink_report import SinkReport
from onceproof.spark_checks.report import replay_file
from onceproof.spark_checks.report.explanation import because
from onceproof.spark_checks.report.steps_taken import steps_taken

ERROR = "ValueError: half a file"


def event(name, *members, fault=False):
    return SimpleNamespace(name=name, members=members, fault=fault)


EVENTS = (
    event("restart"),
    event("log_offsets", 0),
    event("start_batch", 0),
    event("crash", fault=True),
    event("restart"),
    event("start_batch", 0),
    event("start_commit", 0),
    event("log_commit", 0),
    event("log_offsets", 1),
    event("start_batch", 1),
    event("start_commit", 1),
    event("log_commit", 1),
)
ONE = SimpleNamespace(number=1, trace=SimpleNamespace(events=EVENTS, states=()))


def outcome(*, rested, unread=(1,), **last):
    """Replay one fault; ``unread`` are the moments at which the reader failed."""
    seen = tuple(EventOutcome(promised=False, visible=n) for n in (0, 1))
    history = History(
        ("after a crash", "at rest"),
        (Row(0, accepted=True, outcomes=seen, events=4),),
        (0, 0),
        rested,
        unread=unread,
        errors=(ERROR,) * len(unread),
    )
    names = enumerate(history.moments)
    errors = [ERROR if number in unread else "" for number, _ in names]
    runs = (
        RunRecord(("the process dies",), "crash", history.moments[0], state=4),
        RunRecord((), "", history.moments[1], state=12, **last),
    )
    runs = tuple(
        RunRecord(**{**vars(run), "unreadable": error})
        for run, error in zip(runs, errors, strict=True)
    )
    return Outcome(ONE, None, history, (), 0.0, runs=runs)


@pytest.mark.parametrize(
    ("last", "taken"),
    [
        ({}, 5),
        ({"worked": {(0, 0): ("a line",)}}, 6),
        ({"ran": {0: ("a line",)}}, 7),
        ({"committed": frozenset([0])}, 8),
        ({"committed": frozenset([0]), "ran": {1: ("a line",)}}, 11),
    ],
)
def test_a_run_that_did_not_end_took_what_it_is_known_to_have_taken(last, taken):
    """The commit log and the calls of the sink's code say how far it came."""
    assert steps_taken(outcome(rested=False, **last)) == taken


def test_a_run_that_ended_took_every_step():
    """There is nothing to leave out."""
    assert steps_taken(outcome(rested=True)) is None


def test_nobody_is_said_to_see_nothing_where_the_reader_failed():
    """Neither for all events, nor batch by batch."""
    found = outcome(rested=False)

    sentences = because(found, RECOVERABLE)

    assert readers_see(found.spark, 1) == f"the reader failed: {ERROR}"
    last = sentences.index(f"after the last restart, the reader failed: {ERROR}")
    assert "not at all" not in " ".join(sentences[last:])


def test_a_failure_is_named_by_what_the_sink_raised():
    """The name of an error of Onceproof's own is nothing to a user."""
    died = DriverDiedError("the sink's code raised an error in batch 0: KeyError: 'x'")
    name = f"{DriverDiedError.__module__}.{DriverDiedError.__qualname__}"

    text = reason(RuntimeError(f"stopped\n{name}: {died}\n\nat Java"))

    assert text == str(died)


@pytest.mark.parametrize(
    ("unread", "prop", "answer"),
    [
        ((0,), ATOMIC_VISIBILITY, "ERROR"),
        ((1,), ATOMIC_VISIBILITY, "ERROR"),
        ((0,), RECOVERABLE, "FIXED"),
        ((), ATOMIC_VISIBILITY, "FIXED"),
    ],
)
def test_what_nobody_could_read_again_is_not_fixed(monkeypatch, unread, prop, answer):
    """The answer of a replayed file says why."""
    monkeypatch.setattr(replay_file, "steps_of", lambda *_: ())
    monkeypatch.setattr(replay_file, "Interpreter", lambda _: None)
    one = outcome(rested=True, unread=unread)
    open_ = SinkReport.unobserved
    report = SimpleNamespace(
        outcomes=[one],
        replayed=[one],
        unsteady={},
        missed=[],
        protocol=None,
        kept={},
        left=0,
    )
    report.unobserved = lambda *claims: open_(report, *claims)
    report.sink = SimpleNamespace(code=())
    about = SimpleNamespace(sink="sink", property=prop.name, steps=())

    found = replay_file.answered(Path("x.json"), about, report)

    assert found.answer == answer
    assert (f"the reader failed: {ERROR}" in found.reason) == (answer == "ERROR")


def test_the_story_of_what_nobody_could_read_ends_without_a_verdict():
    """It says which moment and why, and accuses nobody."""
    found = outcome(rested=True, unread=(0,))

    sentences = because(found, ATOMIC_VISIBILITY)

    assert sentences[-2] == f"after a crash, the reader failed: {ERROR}"
    assert sentences[-1] == (
        "nobody could see there whether a unit is visible whole or not at all, so "
        "atomic-visibility is undecided"
    )
    assert not because(found, RECOVERABLE)
