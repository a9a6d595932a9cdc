"""Faults that break a connection: at an exchange of the user's code, or of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.plan.cut_exchanges import cut_exchange, last_exchange
from onceproof.spark_checks.plan.fault_kinds import FAULT_KINDS
from onceproof.spark_checks.plan.rules import (
    DRIVER_EXCHANGE,
    LATE_REQUEST,
    LOSE_REPLY,
)
from onceproof.spark_checks.plan.run_plan import (
    NO_SUCH_POINT,
    ExpectedMark,
    NotReplayable,
)

if TYPE_CHECKING:
    from onceproof.model.language.steps import Event
    from onceproof.spark_checks.plan.run_draft import RunDraft
    from onceproof.spark_checks.plan.schedule import Schedule


def break_own(
    schedule: Schedule, run: RunDraft, at: int, awaited: tuple[str, ...]
) -> None:
    """Break a connection of the user's code on the driver."""
    schedule.refuse_restart(at)
    event = schedule.events[at]
    kind, point = FAULT_KINDS[event.name], cut_exchange(schedule, at) | _moment(event)
    point |= after_cut(schedule, run, at)
    run.stops(kind.code, "call", event.members[0], kind.cuts, **point, await_=awaited)


def break_own_and_go_on(schedule: Schedule, run: RunDraft, at: int) -> None:
    """Break a connection of the user's code on the driver, which catches the error."""
    schedule.require_caught(at)
    event = schedule.events[at]
    kind, point = FAULT_KINDS[event.name], cut_exchange(schedule, at) | _moment(event)
    point |= after_cut(schedule, run, at)
    rule = (kind.code, "call", event.members[0], kind.cuts)
    run.survives(event, mark_of_cut(run, at), rule, once=True, **point)


def _moment(event: Event) -> dict[str, Any]:
    """Say, for a rule, when a late request of the code on the driver arrives."""
    late = FAULT_KINDS[event.name].cuts == LATE_REQUEST
    return {"before_next": late and event.members[1] > 0}


def mark_of_cut(run: RunDraft, at: int) -> str:
    """Name the mark of a cut that the run goes on after."""
    return run.mark(f"cut-{at}")


def after_cut(schedule: Schedule, run: RunDraft, at: int) -> dict[str, str]:
    """Say, for a rule, which cut it comes after, if the code went on after one."""
    cut = schedule.caught_before(at)
    return {} if cut is None else {"after": mark_of_cut(run, cut)}


def break_commit(schedule: Schedule, run: RunDraft, at: int) -> None:
    """Break a connection of a reference sink's commit, which raises."""
    event = schedule.events[at]
    batch, do, point = _of_commit(schedule, event, at)
    run.stops(DRIVER_EXCHANGE, "call", batch, do, **point)


def break_and_go_on(schedule: Schedule, run: RunDraft, at: int) -> None:
    """Break a connection of a reference sink's commit, which tries again."""
    event = schedule.events[at]
    batch, do, point = _of_commit(schedule, event, at)
    rule = (DRIVER_EXCHANGE, "call", batch, do)
    run.survives(event, mark_of_cut(run, at), rule, once=True, **point)


def of_task(schedule: Schedule, event: Event, at: int) -> dict[str, Any]:
    """Name the exchange in which the work of an attempt takes effect.

    An attempt that has tried again calls its function once more.
    """
    if "write" not in schedule.steps:
        message = "a task's work is done inside Spark, out of reach"
        raise NotReplayable(message)
    batch, partition = event.members[:2]
    nth = 1 + sum(
        FAULT_KINDS[e.name].cuts != "" and e.members[:3] == event.members[:3]
        for i, e in enumerate(schedule.events[:at])
        if e.fault
        and FAULT_KINDS[e.name].in_task
        and schedule.run_of(i) == schedule.run_of(at)
    )
    real = schedule.real(partition)
    point = last_exchange(schedule, schedule.steps["write"], batch, real, nth)
    return point | _arrival(event, at)


def require_arrival(schedule: Schedule, run: RunDraft, at: int) -> None:
    """Require that the store gets a late request in this run.

    It does as soon as a run has ended well. Raises ``NotReplayable`` where another
    fault ends this one.
    """
    event = schedule.events[at]
    if any(map(schedule.ends_run, range(at, len(schedule.events)))):
        message = "a late request reaches the store only once a run has ended well"
        raise NotReplayable(message)
    [*_, sent] = (
        i
        for i, e in enumerate(schedule.events[:at])
        if e.fault
        and FAULT_KINDS[e.name].cuts == LATE_REQUEST
        and e.members == event.members
    )
    what = f"{event}: the late request reaches the store"
    mark = _arrival(schedule.events[sent], sent)["landed"]
    run.expected.append(
        ExpectedMark(str(event), fault=False, mark=mark, what=what, late=True)
    )


def _arrival(event: Event, at: int) -> dict[str, str]:
    """Name, for a rule, the mark of the arrival of a request that is late."""
    late = FAULT_KINDS[event.name].cuts == LATE_REQUEST
    return {"landed": f"arrived-{at}"} if late else {}


def _of_commit(
    schedule: Schedule, event: Event, at: int
) -> tuple[int, str, dict[str, Any]]:
    """Find the exchange of a step of the sink's commit that a fault cuts.

    A request that is lost or late is of the step that would follow, a lost reply of
    the one before.
    """
    do, batch = FAULT_KINDS[event.name].cuts, int(schedule.look(at).commits)
    if do != LOSE_REPLY:
        name = schedule.upcoming(at, merged=False).name
        nth = 1 + schedule.calls(at, name)
    else:
        steps = [e.name for e in schedule.done(at) if e.name.startswith("sink.")]
        if not steps:
            message = "the sink's commit found the batch done, and wrote nothing"
            raise NotReplayable(message, NO_SUCH_POINT)
        name = steps[-1]
        nth = schedule.calls(at, name)
    if name not in schedule.steps:
        message = f"{name} happens inside Spark, out of reach"
        raise NotReplayable(message)
    point = last_exchange(schedule, schedule.steps[name], batch, None, nth)
    return batch, do, point | _arrival(event, at)
