"""Faults that a run survives: a task that fails, and one that is given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.micro_batch import Task
from onceproof.spark_checks.failpoints.rules import LINES
from onceproof.spark_checks.failpoints.runs import (
    BEGIN,
    END,
    Due,
    NotReplayable,
    Run,
    looked,
)

if TYPE_CHECKING:
    from onceproof.spark_checks.failpoints.kinds import Kind
    from onceproof.spark_checks.failpoints.story import Story


def fail_task(story: Story, run: Run, at: int) -> None:
    """Let an attempt die, before or after its work."""
    event = story.events[at]
    batch, partition, attempt = event.members
    _there(story, run, partition)
    wrote = story.look(at).task[partition, attempt] == Task.WRITTEN
    inside = "write" in story.steps
    function = story.steps["write"] if inside else END if wrote else BEGIN
    when = "return" if inside and wrote else "call"
    real = story.real(partition)
    run.begins(batch)
    run.survives(
        event,
        run.mark(f"failed-{batch}-{real}-{attempt}"),
        (function, when, batch, "die"),
        partition=real,
        attempt=attempt,
    )


def lose_contact(story: Story, run: Run, at: int, kind: Kind) -> None:
    """Let an attempt be given up, and do its work when the interleaving says so.

    It may do so in a later run: it then waits until what the fault before left
    behind has been looked at.
    """
    event = story.events[at]
    batch, partition, attempt = event.members
    if kind.mortal_only():
        raise NotReplayable(kind.mortal_only())
    if LINES in story.steps.values():
        message = "nothing is known of which function does a task's work"
        raise NotReplayable(message)
    _there(story, run, partition)
    if story.find(at + 1, event.name, event.members) is not None:
        message = "a task is given up twice, and the model cannot tell the two apart"
        raise NotReplayable(message)
    real = story.real(partition)
    run.begins(batch)
    function = story.steps.get("write", BEGIN)
    lands = story.find(at, "zombie_write", event.members)
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
    task = {"partition": real, "attempt": attempt}
    next_task = {"partition": real, "attempt": attempt + 1}
    if not awaited:
        wait = (landed(story, at),)
        run.rule(function, "call", batch, "pass", **next_task, await_=wait)
    run.survives(
        event,
        run.mark(f"lost-{name}"),
        (function, "call", batch, "zombie"),
        **task,
        await_=tuple(awaited),
    )
    run.rule(function, "return", batch, "die", **task, mark=landed(story, at))
    run.rule(function, "return", batch, "pass", **next_task, mark=retried)


def zombie_write(story: Story, run: Run, at: int) -> None:
    """Require that an attempt that was given up has done its work in this run."""
    event = story.events[at]
    lost = story.find(0, "lose_contact", event.members)
    what = f"{event}: what was given up does its work after all"
    mark = landed(story, at if lost is None else lost)
    run.due.append(Due(str(event), fault=False, mark=mark, what=what, late=True))


def landed(story: Story, at: int) -> str:
    """Name the mark of the work of an attempt that was given up at a position."""
    batch, partition, attempt = story.events[at].members
    return f"{story.run_of(at)}-landed-{batch}-{story.real(partition)}-{attempt}"


def _there(story: Story, run: Run, partition: int) -> None:
    if partition not in story.there(merged=run.merged):
        message = "a fault strikes a partition that the restart has merged into another"
        raise NotReplayable(message)
