"""Which exchange of a sink with its store a fault cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.plan.fault_kinds import FAULT_KINDS
from onceproof.spark_checks.plan.run_plan import NO_SUCH_POINT, NotReplayable
from onceproof.spark_checks.sinks.exchanges import is_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.spark_checks.plan.schedule import Schedule
    from onceproof.spark_checks.sinks.exchanges import Exchange, SeenExchanges


def cut_exchange(schedule: Schedule, at: int) -> dict[str, Any]:
    """Name, for a rule, the exchange that the fault at a position hits.

    Raises ``NotReplayable`` where that batch or task has fewer.
    """
    event = schedule.events[at]
    seen = schedule.exchanges
    batch, number = event.members[0], event.members[-1] - 1
    found: Sequence[Exchange] = ()
    if seen is not None and FAULT_KINDS[event.name].in_task:
        real = schedule.real(event.members[1])
        owned = seen.of_tasks(batch)
        found = seen.tasks.get((batch, real), ())
        if number < len(owned) and owned[number][0] == real:
            found = [one for _, one in owned]
    elif seen is not None:
        found = seen.of_driver(batch)
    if not 0 <= number < len(found):
        message = "the sink's code has fewer exchanges with its store there"
        raise NotReplayable(message, NO_SUCH_POINT)
    one = found[number]
    if seen is not None:
        _require_reached(schedule, at, one, seen)
    return {
        "line": one.point,
        "nth": one.time,
        "exchange": one.number,
        "request": one.name,
        "sender": one.sender,
    }


def _require_reached(
    schedule: Schedule, at: int, one: Exchange, seen: SeenExchanges
) -> None:
    """Raise ``NotReplayable`` for an exchange that the code does not get to then."""
    event, cut = schedule.events[at], schedule.caught_before(at)
    if cut is not None:
        if one.key not in seen.caught.get(schedule.caught_name(cut), ()):
            message = "after the broken connection the code has no such exchange"
            raise NotReplayable(message, NO_SUCH_POINT)
        return
    in_task = FAULT_KINDS[event.name].in_task
    owner = schedule.real(event.members[1]) if in_task else None
    batch = event.members[0]
    leads = seen.leads.get((batch, owner, one.key), frozenset())
    led = any(str(earlier) in leads for earlier in schedule.events[:at])
    if one in seen.later.get((batch, owner), ()) and not led:
        message = "no earlier fault of the interleaving leads to that exchange"
        raise NotReplayable(message, NO_SUCH_POINT)


def last_exchange(
    schedule: Schedule, function: str, batch: int, partition: int | None, nth: int
) -> dict[str, Any]:
    """Name, for a rule, the last exchange of the ``nth`` call of a function.

    Raises ``NotReplayable`` where the function exchanges nothing with the store.
    """
    seen, point = schedule.exchanges, f"{function}()"
    every: Sequence[Exchange] = ()
    if seen is not None and partition is None:
        every = seen.driver.get(batch, ())
    elif seen is not None and partition is not None:
        every = seen.tasks.get((batch, partition), ())
    found = [one for one in every if one.point == point and one.time <= nth]
    if found or not every or not is_kind(every[-1].point):
        number, time = found[-1].number if found else 0, nth
    else:
        # The client has sent it again by itself, under the next number.
        found = list(every)
        point, number, time = found[-1].point, found[-1].number + nth - 1, 1
    if not found:
        message = f"{point} exchanges nothing with the store there"
        raise NotReplayable(message, NO_SUCH_POINT)
    return {
        "line": point,
        "nth": time,
        "exchange": number,
        "request": found[-1].name,
        "sender": found[-1].sender,
    }
