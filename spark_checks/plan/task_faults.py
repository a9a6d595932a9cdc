"""Faults that a run survives: a task that fails, and one that is given up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onceproof.model.protocols.micro_batch import Task
from onceproof.spark_checks.plan.rules import ENDS, WORK
from onceproof.spark_checks.plan.run_plan import (
    BEGIN,
    END,
    NO_SUCH_POINT,
    ExpectedMark,
    NotReplayable,
    RunPlan,
    looked,
)
from onceproof.spark_checks.plan.schedule import raisable

if TYPE_CHECKING:
    from onceproof.model.language.steps import Event
    from onceproof.spark_checks.plan.schedule import Schedule
    from onceproof.spark_checks.plan.sink_kind import SinkKind

FAILS = ("fail_task", "fail_in_task", "raise_in_task", "fail_above")
LOSES = ("lose_contact", "lose_in_task")
RAISES = "raise_in_task"
POINTLESS = 3


def struck(story: Schedule, run: RunPlan, at: int) -> tuple[str, str, dict[str, Any]]:
    """Give where an attempt is to be struck: a function, call or return, and a point.

    That is before its work, in the midst of it, or after it, as the model has it.
    """
    event = story.events[at]
    batch, partition, attempt = event.members[:3]
    _there(story, run, partition)
    wrote = story.look(at).task[partition, attempt] == Task.WRITTEN
    function = story.steps.get("write", END if wrote else BEGIN)
    if event.name == "fail_above":
        return BEGIN, "call", {}
    if function == WORK:
        number = -1 if wrote else _point(event)
        place = story.work(batch, story.real(partition), number)
        if event.name == RAISES:
            raisable(place)
        return WORK, "call", place
    return function, "return" if "write" in story.steps and wrote else "call", {}


def fail_task(story: Schedule, run: RunPlan, at: int) -> None:
    """Let an attempt die: before its work, in the midst of it, or after it."""
    event = story.events[at]
    batch, partition, attempt = event.members[:3]
    function, when, rest = struck(story, run, at)
    real = story.real(partition)
    run.begins(batch)
    run.survives(
        event,
        run.mark(f"failed-{batch}-{real}-{attempt}"),
        (function, when, batch, "raise" if event.name == RAISES else "die"),
        partition=real,
        attempt=attempt,
        once=True,
        **rest,
    )


def lose_contact(story: Schedule, run: RunPlan, at: int, kind: SinkKind) -> None:
    """Let an attempt be given up, and go on with its work when the interleaving says.

    It may do so in a later run: it then waits until what the fault before left
    behind has been looked at.
    """
    event = story.events[at]
    batch, partition, attempt = event.members[:3]
    if kind.mortal_only():
        raise NotReplayable(kind.mortal_only())
    own = story.seen is not None
    if own and "write" not in story.steps:
        message = "a task that is given up and lives on: its work is done inside Spark"
        raise NotReplayable(message)
    _there(story, run, partition)
    if _lost(story, event.members[:3], at + 1) is not None:
        message = "a task is given up twice, and the model cannot tell the two apart"
        raise NotReplayable(message)
    real = story.real(partition)
    run.begins(batch)
    function = story.steps.get("write", BEGIN)
    lands = story.find(at, "zombie_write", event.members[:3])
    if lands is None:
        message = f"{event} never lands"
        raise NotReplayable(message)
    again = story.find(at, "write", (batch, partition, attempt + 1))
    if again is not None and story.run_of(again) != run.number:
        again = None
    name = f"{batch}-{real}-{attempt}"
    retried = run.mark(f"retried-{name}")
    awaited = []
    if story.run_of(lands) != run.number:
        awaited.append(looked(story.run_of(lands) - 1))
    commit = story.committed_before(lands)
    if commit is not None and commit >= batch:
        awaited.append(f"{{checkpoint}}/commits/{commit}")
    if not awaited and again is not None and lands > again:
        awaited.append(retried)
    begins = story.work(batch, real, _point(event)) if own else {}
    next_task = {"partition": real, "attempt": attempt + 1}
    if not awaited:
        wait = (landed(story, at),)
        first = story.work(batch, real, 0) if own else {}
        run.rule(function, "call", batch, "pass", **next_task, **first, await_=wait)
    run.survives(
        event,
        run.mark(f"lost-{name}"),
        (function, "call", batch, "zombie"),
        partition=real,
        attempt=attempt,
        await_=tuple(awaited),
        landed=landed(story, at) if own else "",
        once=True,
        **begins,
    )
    if not own:
        task = {"partition": real, "attempt": attempt}
        run.rule(function, "return", batch, "die", **task, mark=landed(story, at))
    last = ENDS if own else function
    run.rule(last, "return", batch, "pass", **next_task, mark=retried)


def zombie_write(story: Schedule, run: RunPlan, at: int) -> None:
    """Require that an attempt that was given up has done its work in this run."""
    event = story.events[at]
    lost = _lost(story, event.members, 0)
    what = f"{event}: what was given up does its work after all"
    mark = landed(story, at if lost is None else lost)
    run.due.append(
        ExpectedMark(str(event), fault=False, mark=mark, what=what, late=True)
    )


def landed(story: Schedule, at: int) -> str:
    """Name the mark of the work of an attempt that was given up at a position."""
    batch, partition, attempt = story.events[at].members[:3]
    return f"{story.run_of(at)}-landed-{batch}-{story.real(partition)}-{attempt}"


def _lost(story: Schedule, members: tuple[int, ...], after: int) -> int | None:
    """Find where an attempt is next given up, at whatever point of its work."""
    for at in range(after, len(story.events)):
        event = story.events[at]
        if event.name in LOSES and event.members[:3] == members:
            return at
    return None


def _point(event: Event) -> int:
    """Give the point of the work at which a fault strikes."""
    return event.members[3] if len(event.members) > POINTLESS else 0


def _there(story: Schedule, run: RunPlan, partition: int) -> None:
    if partition not in story.there(merged=run.merged):
        message = "a fault strikes a partition that the restart has merged into another"
        raise NotReplayable(message, NO_SUCH_POINT)
