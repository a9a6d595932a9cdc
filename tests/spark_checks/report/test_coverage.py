"""What was not replayed is said with its reason, in a word and at length."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.plan.rules import CALLBACK, LINES, WORK
from onceproof.spark_checks.plan.run_plan import (
    FAILED,
    NO_SUCH_POINT,
    NOT_MET,
    OUT_OF_REACH,
    InjectionPoint,
)
from onceproof.spark_checks.replay.run_evidence import RunRecord
from onceproof.spark_checks.replay.sink_report import SinkReport
from onceproof.spark_checks.report import assessment
from onceproof.spark_checks.report.coverage import (
    LEFT,
    by_cause,
    in_short,
    left_out_of,
)
from onceproof.spark_checks.sinks.code_points import CodePoint, SeenPoints, place_of

FIRST, SECOND = (place_of(n, "x.py", installed=False) + "write()" for n in (1, 2))
THEIRS = place_of(1, "mylib/x.py", installed=True) + "put()"


@dataclass
class Done:
    """Stands for an outcome: replayed, or not for a reason."""

    not_replayed: str = ""
    cause: str = ""
    hits: tuple = ()
    known: bool = True
    released_early: bool = False
    unread: str = ""
    unread_before: tuple = ()
    failed_first: str = ""
    unplanned: tuple = ()
    runs: tuple = ()
    spark: object = None
    interleaving: object = field(default_factory=lambda: SimpleNamespace(number=1))

    @property
    def missed(self):
        return (bool(self.not_replayed) and not self.known) or bool(self.unread)


def hit(*lines):
    hits = tuple(InjectionPoint("die", LINES, "call", line) for line in lines)
    return Done(hits=hits, spark=SimpleNamespace(unread={}, moments=()))


def report_of(*outcomes, requested=None, there=None, whole=True, faults=1, **seen):
    points = tuple(CodePoint(line) for line in (FIRST, SECOND, THEIRS))
    sink = SimpleNamespace(
        seen=SeenPoints({0: points}, **seen),
        exchanges=None,
        name="x::sink",
        code=("/x",),
    )
    requested = len(outcomes) if requested is None else requested
    classes = SimpleNamespace(classes=range(requested if there is None else there))
    model = SimpleNamespace(verdicts={})
    protocol = MicroBatch(faults=faults)
    return SinkReport(
        sink, protocol, classes, model, None, outcomes, requested=requested, whole=whole
    )


def test_what_a_budget_leaves_is_a_cause_of_its_own():
    """It was not skipped after a refutation."""
    found = replace(report_of(hit(FIRST, SECOND, THEIRS), requested=5), left=4)

    causes = by_cause(found, Choice())

    assert causes == {LEFT: 4}
    assert f"not replayed, 4 {LEFT}" in left_out_of(found, Choice())


def test_each_interleaving_that_was_not_replayed_has_its_cause():
    """The headline counts them apart, and all add up."""
    found = report_of(
        hit(FIRST, SECOND, THEIRS),
        Done("done inside Spark", OUT_OF_REACH),
        Done("done inside Spark", OUT_OF_REACH),
        Done("fewer points", NO_SUCH_POINT),
        Done("never injected", NOT_MET),
        Done("a child panicked", FAILED, known=False),
        requested=9,
        there=20,
    )
    choice = Choice(most=9)

    causes = by_cause(found, choice)
    lines = left_out_of(found, choice)

    assert sum(causes.values()) + 1 == 20
    assert in_short(found, choice) == (
        " (19 not replayed: 2 out of reach, 1 no such point, 1 not reached again, "
        "1 failed to replay, 3 skipped after a refutation, 11 beyond the cap)"
    )
    assert lines[0] == "not replayed, 2 out of reach: done inside Spark"
    assert "not replayed, 11 beyond the cap: --onceproof-most=20 replays all" in lines


def test_nothing_is_said_where_nothing_is_left_out():
    """A bracket that is always there is not read."""
    found = report_of(hit(FIRST, SECOND, THEIRS))

    assert in_short(found, Choice()) == ""
    assert left_out_of(found, Choice()) == []


def test_a_line_of_ones_own_that_no_fault_hit_makes_a_sink_undecided(monkeypatch):
    """It is never held; of an installed package it is said."""
    monkeypatch.setattr(SinkReport, "verdict", lambda *_: Verdict.HELD)
    whole, own, theirs = (
        report_of(hit(*lines))
        for lines in ((FIRST, SECOND, THEIRS), (FIRST, THEIRS), (FIRST, SECOND))
    )

    verdicts = [r.concluded(EFFECTIVELY_ONCE) for r in (whole, own, theirs)]

    assert verdicts == [Verdict.HELD, Verdict.UNDECIDED, Verdict.HELD]
    assert own.never_hit == (SECOND,)
    assert "1 line of installed packages hit by no fault" in in_short(theirs, Choice())


def test_what_was_not_replayed_hits_nothing():
    """A plan alone injects no fault."""
    planned = Done("never injected", NOT_MET, hits=hit(SECOND).hits)

    assert report_of(hit(FIRST, THEIRS), planned).never_hit == (SECOND,)


def test_some_by_name_are_not_expected_to_hit_all():
    """A file that is replayed is about one failure."""
    assert report_of(hit(FIRST), whole=False).never_hit == ()


def test_code_that_has_no_faults_is_named():
    """Also where all is replayed."""
    outside = (("fastlib", "compiled code"), ("sqlalchemy", "a database driver"))
    found = report_of(hit(FIRST, SECOND, THEIRS), outside=outside)

    assert left_out_of(found, Choice()) == [
        "not injected into: fastlib (compiled code), sqlalchemy (a database driver)"
    ]


def test_a_task_that_was_released_early_is_said():
    """What readers saw is judged, and the order is another than planned."""
    done = hit(FIRST, SECOND, THEIRS)
    done.released_early = True

    [lines] = left_out_of(report_of(done), Choice())

    assert lines.startswith("replayed with the given-up task released early, 1:")


def test_an_early_release_is_in_the_headline():
    """The order that was planned is the one that breaks most sinks."""
    done = hit(FIRST, SECOND, THEIRS)
    done.released_early = True

    assert in_short(report_of(done), Choice()) == (
        " (1 with a given-up task released early)"
    )


def test_moments_at_which_readers_fail_are_said():
    """Nothing is broken there, and nothing was judged there."""
    done = hit(FIRST, SECOND, THEIRS)
    done.unread_before = ("RuntimeError: half a file",)
    found = report_of(done)

    lines, what_to_do = left_out_of(found, Choice())

    assert lines == (
        "not judged, 1 moment after a fault: the reader failed: "
        "RuntimeError: half a file"
    )
    assert what_to_do.startswith("help: ")


def test_what_readers_could_not_read_is_not_counted_as_held(monkeypatch):
    """The headline says in how many interleavings the sink held, and no more."""
    monkeypatch.setattr(SinkReport, "concluded", lambda *_: Verdict.UNDECIDED)
    unread = hit(FIRST)
    unread.unread = "ValueError: half a file"
    request = assessment.AssessmentRequest(Path(), Path(), trace="off")

    found = assessment._judged(report_of(hit(SECOND), unread), request)

    assert "half a file; it held in 1 of 2 interleavings" in found.headline


def test_a_failure_that_a_second_replay_did_not_show_is_said():
    """It may have been the sink's after all: one that hangs now and then."""
    done = hit(FIRST, SECOND, THEIRS)
    done.failed_first = "it did not end within 60 s:\nFile x"

    [lines] = left_out_of(report_of(done), Choice())

    assert lines == "replayed again after a failure, 1: it did not end within 60 s"


def test_a_restart_that_no_fault_explains_is_said():
    """The query came to its end; that it failed once more is for its owner to know."""
    done = hit(FIRST, SECOND, THEIRS)
    done.unplanned = ("OSError: the folder is there already\nFile x",)
    found = report_of(done)

    assert in_short(found, Choice()) == (
        " (1 only after a restart that no fault explains)"
    )
    assert left_out_of(found, Choice()) == [
        (
            "replayed with a restart that no fault explains, 1: the query failed once "
            "more: OSError: the folder is there already"
        )
    ]


OTHER = place_of(9, "x.py", installed=False) + "write()"


def run_of(*lines, batch=0, stop=""):
    return RunRecord((), stop, "at rest", {batch: lines})


@pytest.mark.parametrize(
    "one",
    [
        InjectionPoint("die", LINES, "call", SECOND),
        InjectionPoint("die", CALLBACK, "return"),
        InjectionPoint("trap", "commits", "call"),
        InjectionPoint("die", WORK, "call", SECOND, batch=1),
    ],
)
def test_a_line_that_ran_before_a_fault_and_not_at_first_makes_undecided(
    monkeypatch, one
):
    """The code takes other ways from run to run, and that line is no point."""
    monkeypatch.setattr(SinkReport, "verdict", lambda *_: Verdict.HELD)
    done = Done(hits=(one,), spark=SimpleNamespace(unread={}, moments=()))
    done.runs = (run_of(FIRST, OTHER), run_of(FIRST))
    found = report_of(hit(FIRST, SECOND, THEIRS), done)

    assert found.concluded(EFFECTIVELY_ONCE) is Verdict.UNDECIDED
    assert found.unforeseen == (OTHER,)
    [lines] = left_out_of(found, Choice())
    assert lines.startswith("hit by no fault, 1 line: your code takes other ways")


def tasks_of(*lines, batch=0, partition=0, later=()):
    worked = {(batch, partition): lines}
    return RunRecord(
        (), "", "at rest", worked=worked, in_tasks=frozenset((*lines, *later))
    )


@pytest.mark.parametrize(
    ("one", "run"),
    [
        (InjectionPoint("die", LINES, "call", SECOND, batch=1), tasks_of(FIRST, OTHER)),
        (
            InjectionPoint("raise", WORK, "call", SECOND, batch=1),
            tasks_of(OTHER, partition=1),
        ),
        (
            InjectionPoint("die", WORK, "call", SECOND, partition=0),
            tasks_of(FIRST, OTHER),
        ),
    ],
)
def test_a_line_of_a_task_that_ran_before_a_fault_makes_undecided(
    monkeypatch, one, run
):
    """Tasks can take other ways from run to run as the driver can."""
    monkeypatch.setattr(SinkReport, "verdict", lambda *_: Verdict.HELD)
    done = Done(hits=(one,), spark=SimpleNamespace(unread={}, moments=()))
    done.runs = (run,)
    found = report_of(hit(FIRST, SECOND, THEIRS), done)

    assert found.concluded(EFFECTIVELY_ONCE) is Verdict.UNDECIDED
    assert found.unforeseen == (OTHER,)


@pytest.mark.parametrize(
    ("one", "run"),
    [
        (
            InjectionPoint("die", WORK, "call", SECOND, partition=0),
            tasks_of(OTHER, partition=1),
        ),
        (
            InjectionPoint("raise", WORK, "call", SECOND, partition=0),
            tasks_of(FIRST, OTHER),
        ),
        (InjectionPoint("die", LINES, "call", SECOND), tasks_of(OTHER)),
        (
            InjectionPoint("die", WORK, "call", SECOND, partition=0),
            tasks_of(FIRST, later=[OTHER]),
        ),
    ],
)
def test_a_line_of_a_task_that_may_have_run_after_a_fault_is_said(
    monkeypatch, one, run
):
    """A second attempt, a handler, or a task that ran beside the fault."""
    monkeypatch.setattr(SinkReport, "verdict", lambda *_: Verdict.HELD)
    done = Done(hits=(one,), spark=SimpleNamespace(unread={}, moments=()))
    done.runs = (run,)
    found = report_of(hit(FIRST, SECOND, THEIRS), done)

    assert found.concluded(EFFECTIVELY_ONCE) is Verdict.HELD
    [text] = left_out_of(found, Choice())
    assert text == f"hit by no fault, 1 line: they run only after a fault: {OTHER}"


@pytest.mark.parametrize("faults", [1, 2])
@pytest.mark.parametrize(
    ("one", "runs", "again"),
    [
        (
            InjectionPoint("raise", LINES, "call", SECOND),
            [run_of(FIRST, SECOND, OTHER, stop="raise")],
            False,
        ),
        (InjectionPoint("raise", WORK, "call", SECOND), [run_of(FIRST, OTHER)], True),
        (
            InjectionPoint("die", LINES, "call", SECOND),
            [run_of(FIRST), run_of(OTHER)],
            True,
        ),
    ],
)
def test_a_line_that_runs_only_after_a_fault_is_said(
    monkeypatch, one, runs, again, faults
):
    """What handles an error, or finds what a crash left; two faults may reach it."""
    monkeypatch.setattr(SinkReport, "verdict", lambda *_: Verdict.HELD)
    done = Done(hits=(one,), spark=SimpleNamespace(unread={}, moments=()))
    done.runs = tuple(runs)
    found = report_of(hit(FIRST, SECOND, THEIRS), done, faults=faults)

    assert found.concluded(EFFECTIVELY_ONCE) is Verdict.HELD
    text, *help_ = left_out_of(found, Choice())
    assert bool(help_) == (again and faults == 1)
    assert not help_ or help_[0].startswith("help: faults=2 injects a second fault")
    assert text == f"hit by no fault, 1 line: they run only after a fault: {OTHER}"
