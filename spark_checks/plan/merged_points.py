"""Interleavings that differ only by points at which a crash leaves the same.

Between two points of a user's code the fault-free run may have left nothing that
outlives the process. Up to its first fault each interleaving is such a run, so a death
at either point leaves the same, and one of the two is replayed for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks.plan.rules import LINES, OWN_CODE, UNDO, WORK

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.spark_checks.plan.choice import Hits
    from onceproof.spark_checks.plan.run_plan import InjectionPoint
    from onceproof.spark_checks.sinks.code_points import CodePoint, SeenPoints


def alike(seen: SeenPoints, hit: InjectionPoint) -> tuple[CodePoint, ...]:
    """List the points, in order, where a death leaves the same as at a ``hit``.

    There is at most its own if the fault is none that ends the process.
    """
    points: Sequence[CodePoint] = ()
    if hit.do == "die" and hit.event == "call" and hit.line:
        if hit.function == LINES:
            points = seen.driver.get(hit.batch, ())
        elif hit.function == UNDO:
            points = seen.aborts.get(hit.batch, ())
        elif hit.function == WORK:
            points = seen.tasks.get((hit.batch, hit.partition), ())[:-1]
    at = next((n for n, p in enumerate(points) if _is(p, hit)), None)
    if at is None:
        return ()
    first = last = at
    while first > 0 and points[first].unchanged:
        first -= 1
    while last + 1 < len(points) and points[last + 1].unchanged:
        last += 1
    return tuple(points[first : last + 1])


def merged(
    classes: Iterable[Interleaving], hits: Hits, seen: SeenPoints
) -> dict[int, int]:
    """Map interleavings to the one that is replayed for them, by their numbers.

    That is the one whose first fault is at the last of the points, right before
    something happens.
    """
    latest: dict[Hashable, tuple[int, int]] = {}
    keys: dict[int, Hashable] = {}
    for one in classes:
        key, position = _key(one, hits(one), seen)
        if key is not None:
            keys[one.number] = key
            latest[key] = max(latest.get(key, (-1, 0)), (position, one.number))
    found = {number: latest[key][1] for number, key in keys.items()}
    return {number: other for number, other in found.items() if number != other}


def _key(
    one: Interleaving, places: tuple[InjectionPoint, ...] | None, seen: SeenPoints
) -> tuple[Hashable, int]:
    """Return what interleavings have in common that are alike, and the position."""
    if not places or not one.faults:
        return None, 0
    first, *others = places
    group = alike(seen, first)
    if len(group) <= 1 or first.function not in OWN_CODE:
        return None, 0
    at = one.faults[0]
    events = [(event.name, event.members) for event in one.trace.events]
    name, members = events[at]
    events[at] = (name, members[:-1])
    where = (first.function, first.batch, first.partition, str(group[0]))
    position = next(n for n, point in enumerate(group) if _is(point, first))
    return (tuple(events), where, tuple(others)), position


def _is(point: CodePoint, hit: InjectionPoint) -> bool:
    return (point.text, point.time) == (hit.line, hit.nth)
