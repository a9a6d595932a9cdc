"""Faults that a run survives: a task that fails, and one that is given up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onceproof.model.protocols.micro_batch import Task
from onceproof.spark_checks.plan.broken_connections import (
    after_cut,
    mark_of_cut,
    of_task,
)
from onceproof.spark_checks.plan.cut_exchanges import cut_exchange
from onceproof.spark_checks.plan.fault_kinds import (
    FAULT_KINDS,
    Effect,
    with_effect,
)
from onceproof.spark_checks.plan.rules import ENDS, TASK_EXCHANGE, WORK
from onceproof.spark_checks.plan.run_plan import (
    BEGIN,
    END,
    NO_SUCH_POINT,
    ExpectedMark,
    NotReplayable,
    looked_mark,
    next_attempt_mark,
    resumed_file,
)
from onceproof.spark_checks.plan.schedule import raisable
from onceproof.spark_checks.plan.spark_steps import is_step
from onceproof.spark_checks.sinks.code_points import CodePoint
from onceproof.spark_checks.sinks.exchange_model import CAUGHT, hit_again

if TYPE_CHECKING:
    from onceproof.model.language.steps import Event
    from onceproof.spark_checks.plan.run_draft import RunDraft
    from onceproof.spark_checks.plan.schedule import Schedule
    from onceproof.spark_checks.plan.sink_kind import SinkKind

_LOSES = with_effect(Effect.LOSES_ATTEMPT)
_BEGUN = "the task has begun its work before its connection breaks"


def injected_at(
    schedule: Schedule, run: RunDraft, at: int
) -> tuple[str, str, dict[str, Any]]:
    """Return where a fault hits an attempt: function, call or return, point.

    That is before its work, in the midst of it, or after it, as the model has it.
    """
    event = schedule.events[at]
    partition, attempt = event.members[1:3]
    _require_partition(schedule, run, partition)
    wrote = schedule.look(at).task[partition, attempt] == Task.WRITTEN
    function = schedule.steps.get("write", END if wrote else BEGIN)
    kind = FAULT_KINDS[event.name]
    after = after_cut(schedule, run, at)
    if after and not (wrote or kind.code):
        raise NotReplayable(_BEGUN, NO_SUCH_POINT)
    if event.name == "fail_above":
        return BEGIN, "call", {}
    if kind.code == TASK_EXCHANGE:
        return kind.code, "call", cut_exchange(schedule, at) | after
    if kind.cuts:
        return TASK_EXCHANGE, "call", of_task(schedule, event, at)
    if function == WORK:
        number = -1 if wrote else _point(event)
        place = work_at(schedule, at, number)
        if kind.raises:
            raisable(place)
        return WORK, "call", place | after
    return function, "return" if "write" in schedule.steps and wrote else "call", {}


def work_at(schedule: Schedule, at: int, number: int) -> dict[str, Any]:
    """Name the point in a task that the fault at a position hits; -1 is its end.

    Raises ``NotReplayable`` for one that the attempt does not get to then.
    """
    batch, partition = schedule.events[at].members[:2]
    real, seen = schedule.real(partition), schedule.seen
    point = schedule.work(batch, real, number)
    if seen is None:
        return point
    cut, name = schedule.caught_before(at), _name_of(point)
    if cut is None:
        if name in map(str, seen.later.get((batch, real), ())):
            message = "no earlier fault of the interleaving leads to that line"
            raise NotReplayable(message, NO_SUCH_POINT)
        return point
    reached = seen.caught[schedule.caught_name(cut)]
    if number < 0:
        times = range(len(reached), 0, -1)
        again = ({**point, "nth": nth} for nth in times)
        point = next((end for end in again if _name_of(end) in reached), point)
    if _name_of(point) not in reached:
        message = "after the broken connection the task does not get there"
        raise NotReplayable(message, NO_SUCH_POINT)
    return point


def _name_of(point: dict[str, Any]) -> str:
    return str(CodePoint(point["line"], point["nth"]))


def _refuse_next_attempt(schedule: Schedule, at: int) -> None:
    """Raise ``NotReplayable`` for an attempt that code which goes on has not."""
    twin = schedule.caught_name(at, CAUGHT[schedule.events[at].name])
    known = schedule.seen is not None and twin in schedule.seen.caught
    if known and hit_again(schedule.events, at):
        message = "the code goes on after that error, so no other attempt follows"
        raise NotReplayable(message, NO_SUCH_POINT)


def refuse_unseen_rows(schedule: Schedule, at: int, kind: SinkKind) -> None:
    """Refuse a fault of an attempt if nobody knows which rows it leaves.

    Raises ``NotReplayable`` for one that dies after its work, or is given up, where
    Spark's own writer writes its rows.
    """
    event = schedule.events[at]
    _, partition, attempt = event.members[:3]
    lives = FAULT_KINDS[event.name].effect is Effect.LOSES_ATTEMPT
    wrote = schedule.look(at).task[partition, attempt] == Task.WRITTEN
    if schedule.hides_rows and (lives or wrote) and kind.unseen_rows():
        raise NotReplayable(kind.unseen_rows())


def fail_task(schedule: Schedule, run: RunDraft, at: int) -> None:
    """Let an attempt die: before its work, in the midst of it, or after it."""
    event = schedule.events[at]
    batch, partition, attempt = event.members[:3]
    function, when, rest = injected_at(schedule, run, at)
    real = schedule.real(partition)
    kind = FAULT_KINDS[event.name]
    if kind.code == TASK_EXCHANGE:
        _refuse_next_attempt(schedule, at)
        _watch(run, batch, real, attempt)
    # What a task of Spark's own code has begun, Spark takes back as it fails.
    raises = kind.raises or is_step(function)
    do = kind.cuts or ("raise" if raises else "die")
    run.begins(batch)
    run.survives(
        event,
        run.mark(f"failed-{batch}-{real}-{attempt}"),
        (function, when, batch, do),
        partition=real,
        attempt=attempt,
        once=True,
        **rest,
    )


def go_on_in_task(schedule: Schedule, run: RunDraft, at: int) -> None:
    """Break a connection of an attempt, whose code catches the error."""
    schedule.require_caught(at)
    event = schedule.events[at]
    batch, partition, attempt = event.members[:3]
    function, when, rest = injected_at(schedule, run, at)
    run.begins(batch)
    run.survives(
        event,
        mark_of_cut(run, at),
        (function, when, batch, FAULT_KINDS[event.name].cuts),
        partition=schedule.real(partition),
        attempt=attempt,
        once=True,
        **rest,
    )


def _watch(run: RunDraft, batch: int, partition: int, attempt: int) -> None:
    """Let an attempt note its points, and the next one leave a mark if it begins."""
    task = {"partition": partition}
    noted = resumed_file(run.number, batch, attempt)
    run.rule(WORK, "call", batch, "note", **task, attempt=attempt, mark=noted)
    again = next_attempt_mark(run.number, batch, partition, attempt)
    run.rule(WORK, "call", batch, "pass", **task, attempt=attempt + 1, mark=again)


def lose_contact(schedule: Schedule, run: RunDraft, at: int, kind: SinkKind) -> None:
    """Let an attempt be given up, and go on with its work when the interleaving says.

    It may do so in a later run: it then waits until what the fault before left
    behind has been looked at.
    """
    event = schedule.events[at]
    batch, partition, attempt = event.members[:3]
    if kind.mortal_only():
        raise NotReplayable(kind.mortal_only())
    own = schedule.seen is not None
    if schedule.caught_before(at) is not None and event.name == "lose_contact":
        raise NotReplayable(_BEGUN, NO_SUCH_POINT)
    if own and "write" not in schedule.steps:
        message = "no task can lose contact, because your code does not run in tasks"
        raise NotReplayable(message)
    _require_partition(schedule, run, partition)
    if _lost(schedule, event.members[:3], at + 1) is not None:
        message = "a task is given up twice, and the model does not distinguish the two"
        raise NotReplayable(message)
    real = schedule.real(partition)
    run.begins(batch)
    function = schedule.steps.get("write", BEGIN)
    lands = schedule.find(at, "zombie_write", event.members[:3])
    if lands is None:
        message = f"{event} never lands"
        raise NotReplayable(message)
    again = schedule.find(at, "write", (batch, partition, attempt + 1))
    if again is not None and schedule.run_of(again) != run.number:
        again = None
    name = f"{batch}-{real}-{attempt}"
    retried = run.mark(f"retried-{name}")
    awaited = []
    if schedule.run_of(lands) != run.number:
        awaited.append(looked_mark(schedule.run_of(lands) - 1))
    commit = schedule.committed_before(lands)
    if commit is not None and commit >= batch:
        awaited.append(f"{{checkpoint}}/commits/{commit}")
    if not awaited and again is not None and lands > again:
        awaited.append(retried)
    if own:
        begins = work_at(schedule, at, _point(event)) | after_cut(schedule, run, at)
    else:
        begins = {}
    next_task = {"partition": real, "attempt": attempt + 1}
    if not awaited:
        wait = (landed(schedule, at),)
        first = schedule.work(batch, real, 0) if own else {}
        run.rule(function, "call", batch, "pass", **next_task, **first, await_=wait)
    run.survives(
        event,
        run.mark(f"lost-{name}"),
        (function, "call", batch, "zombie"),
        partition=real,
        attempt=attempt,
        await_=tuple(awaited),
        landed=landed(schedule, at) if own else "",
        once=True,
        **begins,
    )
    if not own:
        task = {"partition": real, "attempt": attempt}
        run.rule(function, "return", batch, "die", **task, mark=landed(schedule, at))
    last = ENDS if own else function
    run.rule(last, "return", batch, "pass", **next_task, mark=retried)


def zombie_write(schedule: Schedule, run: RunDraft, at: int) -> None:
    """Require that an attempt that was given up has done its work in this run."""
    event = schedule.events[at]
    lost = _lost(schedule, event.members, 0)
    what = f"{event}: the task that was given up does its work after all"
    mark = landed(schedule, at if lost is None else lost)
    run.expected.append(
        ExpectedMark(str(event), fault=False, mark=mark, what=what, late=True)
    )


def landed(schedule: Schedule, at: int) -> str:
    """Name the mark of the work of an attempt that was given up at a position."""
    batch, partition, attempt = schedule.events[at].members[:3]
    return f"{schedule.run_of(at)}-landed-{batch}-{schedule.real(partition)}-{attempt}"


def _lost(schedule: Schedule, members: tuple[int, ...], after: int) -> int | None:
    """Find where an attempt is next given up, at whatever point of its work."""
    for at in range(after, len(schedule.events)):
        event = schedule.events[at]
        if event.name in _LOSES and event.members[:3] == members:
            return at
    return None


def _point(event: Event) -> int:
    """Return the point of the work at which a fault is injected."""
    return event.members[-1] if FAULT_KINDS[event.name].code == WORK else 0


def _require_partition(schedule: Schedule, run: RunDraft, partition: int) -> None:
    if partition not in schedule.spark_partitions(merged=run.merged):
        message = "a fault hits a partition that the restart has merged into another"
        raise NotReplayable(message, NO_SUCH_POINT)
