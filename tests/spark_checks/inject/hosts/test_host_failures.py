"""What is no sink's doing refutes none; what cannot be given to a process is named."""

from __future__ import annotations

import functools
import socket
from pathlib import Path

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.text import shell_word
from onceproof.properties.counterexample.file import TraceStep, read
from onceproof.properties.explorer.view_builder import explored
from onceproof.properties.guarantees import (
    AT_LEAST_ONCE,
    ATOMIC_VISIBILITY,
    EFFECTIVELY_ONCE,
    RECOVERABLE,
)
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.report.assessment import CLAIMED, AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest
from tests.spark_checks.inject.hosts import strange_sinks as sinks

pytestmark = pytest.mark.spark

ROWS = [{"id": f"e{n}", "amount": n} for n in range(2)]
DIES = Choice(steps=(TraceStep("crash_in_commit", (), True, {}),))


@pytest.fixture
def judged(pool, tmp_path):
    def ask(build, choice=DIES, claims=CLAIMED, **words):
        test = RequestingTest("", ("id",), (str(tmp_path),), claims)
        words = {"events": ROWS, "batches": 1, "partitions": 1, **words}
        here = Path(__file__).parent
        question = AssessmentRequest(here, tmp_path, test=test, choice=choice, **words)
        return judge(build, question, pool=pool)

    return ask


def test_a_process_that_ends_by_a_signal_refutes_nothing(judged):
    """It is not the driver's death of the plan: nothing is replayed."""
    found = judged(sinks.ends_by_a_signal)

    assert found.verdict is Verdict.UNDECIDED
    assert found.report.missed
    assert all("by SIGSEGV" in o.not_replayed for o in found.report.missed)
    assert "by SIGSEGV" in found.story


def test_a_reader_that_fails_has_not_seen_nothing(judged):
    """All events are there: it is told that nobody can read them."""
    found = judged(sinks.cannot_be_read_again)

    assert found.verdict is Verdict.UNDECIDED
    assert {o.unread for o in found.report.missed} == {"ValueError: half a file"}
    assert "the reader failed in 8 of 8 replays: ValueError" in found.headline
    assert "once the query had finished: the reader failed: ValueError" in found.story


@pytest.mark.ci
def test_what_nobody_could_read_after_a_fault_is_not_held(judged):
    """What speaks of the end alone is held: the restart leaves all that is owed."""
    claims = (ATOMIC_VISIBILITY, EFFECTIVELY_ONCE, AT_LEAST_ONCE, RECOVERABLE)

    found = judged(sinks.cannot_be_read_at_once, claims=claims)

    verdicts = {p.name: str(found.report.verdict(p)) for p in claims}
    assert verdicts == {
        "atomic-visibility": "undecided",
        "effectively-once": "undecided",
        "at-least-once": "held",
        "recoverable": "held",
    }
    assert "after a fault: the reader failed: ValueError: half a file" in found.story
    assert "let read= return no rows" in found.story
    written = read(Path(found.file))
    shown = explored(written).view
    assert written.property == "atomic-visibility"
    assert written.undecided()
    assert shown.fails_at is None
    assert shown.because == written.because
    assert f"onceproof explore {shell_word(found.file)}" in found.story
    assert "so atomic-visibility is undecided" in found.story
    assert "breaks here" not in found.story


@pytest.mark.ci
def test_a_sink_that_is_broken_for_good_does_not_recover(judged):
    """The story shows what was done, why nobody reads, and no step beyond."""
    found = judged(sinks.broken_for_good, claims=(RECOVERABLE,))

    assert found.verdict is Verdict.REFUTED
    assert "the reader failed: ValueError: half a file; recoverable" in found.headline
    assert (
        "no restart brings the query to its end: the sink's code raised an error in "
        "batch 0: BlockingIOError: somebody else writes"
    ) in found.story
    assert "not at all" not in found.story + found.headline
    assert "Error: the sink" not in found.story
    assert "log_commit" not in found.story
    written = read(Path(found.file))
    shown = explored(written).view
    assert written.taken == written.looks[-1] < len(written.steps)
    assert [step.event for step in shown.steps][-1] == "start_commit"
    assert "2 steps that the model takes then" in " ".join(shown.notes)


@pytest.mark.ci
def test_what_happens_once_is_not_a_refutation(judged, tmp_path):
    """It is told how often it came up."""
    counted = str(tmp_path / "counted")

    found = judged(functools.partial(sinks.wrong_once, counted=counted))

    assert found.verdict is Verdict.UNDECIDED
    assert len(found.report.missed) == 1
    assert "breaks effectively-once in 1 of 3 runs" in found.story


@pytest.mark.grid
def test_a_host_has_all_of_spark_that_a_run_needs(judged):
    """It was forked from a process that has imported it."""
    assert judged(sinks.fails_if_spark_is_imported).verdict is Verdict.HELD


@pytest.mark.ci
def test_what_leaves_a_thread_behind_is_built_once(judged):
    """Other processes get what was made, and a lock that nobody holds."""
    found = judged(sinks.leaves_a_thread)

    assert found.verdict is Verdict.HELD
    assert not sinks.STARTED


def test_what_no_other_process_can_be_given_is_named(judged):
    """With what was left open, where it is held, and what to do."""
    with pytest.raises(UsageError) as refused:
        judged(sinks.leaves_a_socket)

    message = str(refused.value)
    assert "leaves_a_socket cannot be run again after a crash" in message
    assert "it keeps socket:" in message
    assert "of leaves_a_socket.<locals>.write() is a socket.socket" in message
    assert "where it is first used" in message


def test_what_a_test_holds_open_is_refused(judged):
    """It is named before anything runs."""
    mine, other = socket.socketpair()

    def build(target):
        mine.send(b".")
        return sinks.leaves_a_thread(target)

    with (
        mine,
        other,
        pytest.raises(UsageError, match=r"'mine' of .*build.* is a socket"),
    ):
        judged(build)
