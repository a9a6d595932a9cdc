"""What a user's code runs when nothing is done to it, and what readers then see."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.spark_checks.drift import seen_in_words
from onceproof.spark_checks.failpoints import notes
from onceproof.spark_checks.failpoints.driver import HUNG
from onceproof.spark_checks.failpoints.kinds import DataSourceKind, kind_of
from onceproof.spark_checks.failpoints.points import (
    ABORT,
    DRIVER,
    TASK,
    points_in,
    seen_in,
)
from onceproof.spark_checks.failpoints.rules import CALLED_BACK, LINES, UNDO, WORK
from onceproof.spark_checks.failpoints.runs import Run
from onceproof.spark_checks.observe import Telling
from onceproof.spark_checks.run import fresh
from onceproof.spark_checks.sinks.user_code import StruckInside, UserCode
from onceproof.spark_checks.trial import Trial

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.spark_checks.failpoints.points import Point, Seen
    from onceproof.spark_checks.sinks.interface import Reference
    from onceproof.spark_checks.trial import Bench

_NOTED = ((LINES, DRIVER), (WORK, TASK), (UNDO, ABORT))


def discovered(bench: Bench, sink: Reference) -> Reference:
    """Describe a user's sink by the points that its code is seen to come to.

    Raises ``UsageError`` where the sink fails by itself, or where readers do not see
    each event once though nothing was done to it.
    """
    batches = bench.source.batches
    folder, built = fresh(bench, sink)
    built.close()
    shutil.rmtree(folder, ignore_errors=True)
    sink = replace(sink, code=built.code)
    run = Run(number=0, offered=batches, moment="at rest")
    for batch in range(batches):
        for function, where in _NOTED:
            run.rule(function, "call", batch, "note", mark=notes.file_of(where, batch))
    folder, trial = _tried(bench, sink, run)
    _well(bench, sink, trial)
    marks = folder / "marks"
    seen = seen_in(marks, batches, callback=(marks / CALLED_BACK).exists())
    shutil.rmtree(folder, ignore_errors=True)
    kind = kind_of(built.under_test)
    committer = isinstance(kind, DataSourceKind) and bool(seen.last)
    if committer:
        points = _aborted(bench, sink, seen)
        seen = replace(seen, aborts=dict.fromkeys(range(batches), points))
    model = UserCode(
        on_driver=int(bool(seen.driver)),
        in_tasks=int(bool(seen.tasks)),
        committer=int(committer),
    )
    steps = {"sink.run": LINES} if seen.driver else {}
    steps |= {"write": WORK} if seen.tasks else {}
    return replace(
        sink,
        engine=StruckInside,
        model=model,
        steps=steps,
        seen=seen,
        parameters=seen.sizes,
    )


def _tried(bench: Bench, sink: Reference, run: Run) -> tuple[Path, Trial]:
    """Make one run of a fresh sink, and see that it came to its end.

    It is made once more where a failure was not the sink's.
    """
    for last in (False, True):
        folder, built = fresh(bench, sink)
        trial = Trial(bench, folder, built, sink, kind_of(built.under_test))
        try:
            problem = trial.go(run)
        finally:
            trial.close()
        if last or not problem.help or (folder / "marks" / HUNG).exists():
            break
        shutil.rmtree(folder, ignore_errors=True)
    if problem or trial.unplanned:
        why = problem.reason or trial.unplanned[0]
        message = f"{sink.name} fails though nothing was done to it: {why}"
        raise UsageError(message)
    return folder, trial


def _well(bench: Bench, sink: Reference, trial: Trial) -> None:
    if trial.unreadable:
        why = next(iter(trial.unreadable.values()))
        message = f"{sink.name} cannot be read, though nothing was done to it: {why}"
        raise UsageError(message)
    telling = Telling(
        ("at rest",), tuple(trial.looks), tuple(trial.promised), rested=True
    )
    [history] = bench.histories([telling])
    if set(history.seen(0)) != {1} or history.unexplained[0]:
        wrong = (row.example for row in history.rows if row.fared[0].visible != 1)
        such = next((f", such as {example}" for example in wrong if example), "")
        message = (
            f"{sink.name} is wrong even without a fault: of the events readers see "
            f"{seen_in_words(history, 0)}{such}; the sink itself loses or repeats "
            "them, or key= and read= do not fit"
        )
        raise UsageError(message)


def _aborted(bench: Bench, sink: Reference, seen: Seen) -> tuple[Point, ...]:
    """List the points of the code that takes a batch back, when its commit raises."""
    run = Run(number=0, offered=1, moment="at rest")
    last = seen.last[0]
    run.stops(LINES, "call", 0, "raise", line=last.text, nth=last.time)
    run.rule(UNDO, "call", 0, "note", mark=notes.file_of(ABORT, 0))
    folder, _ = _tried(bench, sink, run)
    points = points_in(folder / "marks" / notes.file_of(ABORT, 0))
    shutil.rmtree(folder, ignore_errors=True)
    return points
