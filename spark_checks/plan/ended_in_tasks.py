"""Runs that end while their tasks are at work: what each task does until then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.plan.broken_connections import mark_of_cut
from onceproof.spark_checks.plan.rules import ENDS, LINES, WORK
from onceproof.spark_checks.plan.run_plan import BEGIN, ExpectedMark, NotReplayable
from onceproof.spark_checks.plan.spark_steps import is_step
from onceproof.spark_checks.plan.task_faults import injected_at, refuse_unseen_rows

if TYPE_CHECKING:
    from onceproof.model.language.steps import Event
    from onceproof.spark_checks.plan.run_draft import RunDraft
    from onceproof.spark_checks.plan.schedule import Schedule
    from onceproof.spark_checks.plan.sink_kind import SinkKind


def marks_before(schedule: Schedule, run: RunDraft) -> tuple[str, ...]:
    """List the marks of faults that come before the one that ends a run.

    A callback begins before its tasks do: there is nothing to wait for.
    """
    if schedule.seen is None or schedule.seen.callback:
        return ()
    return tuple(due.mark for due in run.expected if not due.late)


def stop_among_writes(
    schedule: Schedule, kind: SinkKind, run: RunDraft, at: int, upcoming: Event
) -> None:
    """Let the driver die when some tasks have done their work, and others have not."""
    batch = int(schedule.look(at).commits)
    due = _due(schedule, run, batch, at)
    written = {p for p, (_, done) in due.items() if done}
    if written and "write" not in schedule.steps:
        real = {schedule.real(p) for p in written}
        kind.inside(run, real, upcoming, again=schedule.again(at, batch))
        return
    if not (written or run.expected) and kind.before_tasks(run, batch):
        return
    if schedule.steps.get("write") == WORK:
        die_in_tasks(schedule, kind, run, at, {})
        return
    # A task that fails above its writer looks to a ForeachWriter like one whose
    # input has ended (docs/explanation/findings.md): it is injected in the writer.
    function = schedule.steps.get("write", BEGIN)
    run.begins(batch)
    awaited = [d.mark for d in run.expected if not d.late]
    awaited += _do_first(schedule, run, batch, function, due)
    for p in sorted(set(due) - written, key=schedule.real):
        for attempt in range(due[p][0], schedule.attempts):
            task: dict[str, Any] = {
                "partition": schedule.real(p),
                "attempt": attempt,
            }
            wait = tuple(awaited)
            run.stops(function, "call", batch, "die", **task, await_=wait)
    kind.no_abort(run, batch)


def fail_job(
    schedule: Schedule, kind: SinkKind, run: RunDraft, event: Event, at: int
) -> None:
    """Let the last attempt of a task die, so that Spark fails the job.

    Other tasks that have not done their work die before it, once that has come.
    """
    batch, partition, attempt = event.members
    refuse_unseen_rows(schedule, at, kind)
    function, when, rest = injected_at(schedule, run, at)
    due = _due(schedule, run, batch, at)
    due.pop(partition, None)
    any_done = any(done for _, done in due.values())
    if "write" not in schedule.steps and any_done:
        message = "which tasks are done when a job fails is up to Spark here"
        raise NotReplayable(message)
    if is_step(function) and any_done:
        message = "Spark deletes the files of a job that fails; the model does not"
        raise NotReplayable(message)
    run.begins(batch)
    ends = ENDS if function in (WORK, BEGIN) else function
    awaited = [d.mark for d in run.expected if not d.late]
    awaited += _do_first(schedule, run, batch, ends, due)
    rest |= {"partition": schedule.real(partition), "attempt": attempt}
    rest |= {"await_": tuple(awaited), "catchable": True}
    do = "raise" if is_step(function) else "die"
    run.stops(function, when, batch, do, **rest)
    begins = schedule.steps.get("write", BEGIN)
    for p, (first, done) in due.items():
        for number in range(first, 0 if done else schedule.attempts):
            real = schedule.real(p)
            mark = run.mark(f"also-{batch}-{real}-{number}")
            task = {"partition": real, "attempt": number, "mark": mark}
            task |= _after_its_cut(schedule, run, at, (batch, p, number))
            stopped = (run.mark("stopped"),)
            run.rule(begins, "call", batch, "die", **task, await_=stopped, once=True)


def die_in_tasks(
    schedule: Schedule,
    kind: SinkKind,
    run: RunDraft,
    at: int,
    hit: dict[tuple[int, int], dict[str, Any]],
) -> None:
    """Let the driver die with its tasks, whose code is the user's.

    Those that have done their work do it first; all others die at the first line
    that they reach, ``hit`` ones at a point of their own. The host of the driver
    dies when their marks appear.
    """
    batch = int(schedule.look(at).commits)
    run.begins(batch)
    due = _due(schedule, run, batch, at)
    awaited = [
        *marks_before(schedule, run),
        *_do_first(schedule, run, batch, ENDS, due),
    ]
    for p, (first, done) in sorted(due.items(), key=lambda d: schedule.real(d[0])):
        for attempt in range(first, 0 if done else schedule.attempts):
            task = {"partition": schedule.real(p), "attempt": attempt}
            point = hit.get((p, attempt), {})
            task |= _after_its_cut(schedule, run, at, (batch, p, attempt))
            report = not hit or bool(point)
            rest = {**task, **point, "await_": tuple(awaited), "report": report}
            run.stops(WORK, "call", batch, "die", **rest)
    stopped = run.mark("stopped")
    run.rule(LINES, "exception", batch, "die", after=stopped)
    kind.no_abort(run, batch)


def _after_its_cut(
    schedule: Schedule, run: RunDraft, at: int, attempt: tuple[int, int, int]
) -> dict[str, Any]:
    """Say, for a rule, which cut of its connection an attempt goes on after first."""
    cut = schedule.caught_in(at, attempt)
    return {} if cut is None else {"after": mark_of_cut(run, cut)}


def _due(
    schedule: Schedule, run: RunDraft, batch: int, at: int
) -> dict[int, tuple[int, bool]]:
    """Give, for each task that can be steered, its ``Schedule.attempt``.

    A task without events may reach no point of the user's code: it has nothing
    to do, and there is nothing to wait for.
    """
    partitions = schedule.spark_partitions(merged=run.merged)
    if schedule.steps.get("write") == WORK:
        partitions = [p for p in partitions if schedule.works(batch, p)]
    return {p: schedule.attempt(at, p) for p in partitions}


def _do_first(
    schedule: Schedule,
    run: RunDraft,
    batch: int,
    function: str,
    due: dict[int, tuple[int, bool]],
) -> list[str]:
    """Let tasks whose work is done by then do it; give the marks they leave."""
    marks = []
    for p, (attempt, done) in sorted(due.items()):
        if done:
            number = schedule.real(p)
            mark = run.mark(f"written-{batch}-{number}-{attempt}")
            task: dict[str, Any] = {"partition": number, "attempt": attempt}
            run.rule(function, "return", batch, "pass", **task, mark=mark)
            event = f"write({batch}, {p}, {attempt})"
            what = f"task {number} of batch {batch} does its work first"
            run.expected.append(ExpectedMark(event, fault=False, mark=mark, what=what))
            marks.append(mark)
    return marks
