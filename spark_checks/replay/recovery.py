"""The lines that a sink's code runs only after a fault, where another may hit it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.spark_checks.sinks.code_points import CodePoint, installed, returns
from onceproof.spark_checks.sinks.exchange_model import (
    CAUGHT,
    CAUGHT_IN_TASKS,
    CAUGHT_ON_DRIVER,
    caught_name,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from onceproof.model.language.steps import Event
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.run_evidence import Resumed
    from onceproof.spark_checks.sinks.code_points import SeenPoints


def with_recovery(seen: SeenPoints, outcomes: Iterable[Outcome]) -> SeenPoints:
    """Add the points that the driver's code reached after the fault of an interleaving.

    Each of ``outcomes`` has one fault. Code that repairs what a dead run has left runs
    only then, and a second fault may hit it. So does code that goes on after a broken
    connection, which may run lines once more.
    """
    outcomes = tuple(outcomes)
    known = {b: {point.text for point in points} for b, points in seen.driver.items()}
    leads: dict[tuple[int, CodePoint], set[str]] = {}
    for outcome in outcomes:
        faults = faults_in(outcome)
        for batch, text in _after_its_fault(outcome):
            if _own(text) and text not in known.get(batch, ()):
                leads.setdefault((batch, CodePoint(text)), set()).update(faults)
    most = _most_times(seen)
    caught: dict[str, set[str]] = {}
    for fault, batch, point in _after_caught(outcomes):
        caught.setdefault(fault, set()).add(str(point))
        again = point.time > most.get((batch, point.text), 0)
        if _own(point.text) and again:
            leads.setdefault((batch, point), set()).add(fault)
    driver = dict(seen.driver)
    for batch, point in leads:
        driver[batch] = (*driver.get(batch, ()), point)
    every = {(b, str(at)): frozenset(faults) for (b, at), faults in leads.items()}
    later: dict[tuple[int, int], dict[CodePoint, None]] = {}
    for name, _, one in resumed_after(outcomes):
        if one.partition < 0:
            continue
        caught.setdefault(name, set()).update(map(str, one.points))
        place = one.batch, one.partition
        fault_free = {str(point) for point in seen.tasks.get(place, ())}
        new = (p for p in one.points if str(p) not in fault_free and _own(p.text))
        later.setdefault(place, {}).update(dict.fromkeys(new))
    went_on = {fault: frozenset(points) for fault, points in caught.items()}
    return replace(
        seen,
        driver=driver,
        leads=every,
        caught=went_on,
        later={place: tuple(points) for place, points in later.items() if points},
    )


def faults_in(outcome: Outcome) -> set[str]:
    """Name the faults of an outcome."""
    trace = outcome.interleaving.trace
    return {str(trace.events[at]) for at in outcome.interleaving.faults}


def resumed_after(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, int, Resumed]]:
    """Yield what went on after each broken connection.

    Each is with the name of the fault, and with the number of the exchange.
    """
    for outcome, fault, twin in _caught(outcomes, CAUGHT):
        in_task = fault.name in CAUGHT_IN_TASKS
        for run in outcome.runs:
            for one in run.resumed:
                name = caught_name(twin, one.partition if in_task else None)
                yield name, fault.members[-1], one


def _caught(
    outcomes: Iterable[Outcome], names: Container[str]
) -> Iterator[tuple[Outcome, Event, Event]]:
    """Yield each fault of these names, and the event of code that goes on after it."""
    for outcome in outcomes:
        trace = outcome.interleaving.trace
        for at in outcome.interleaving.faults:
            fault = trace.events[at]
            if fault.name in names:
                yield outcome, fault, replace(fault, name=CAUGHT[fault.name])


def lines_of_restarts(outcomes: Iterable[Outcome]) -> set[str]:
    """Return what the driver's code ran in runs that no fault ended."""
    return {text for one in outcomes for _, text in _after_its_fault(one)}


def _own(text: str) -> bool:
    return not returns(text) and not installed(text)


def _most_times(seen: SeenPoints) -> dict[tuple[int, str], int]:
    """Return how often the fault-free run reached each point, by batch."""
    found: dict[tuple[int, str], int] = {}
    for batch, points in seen.driver.items():
        for point in points:
            key = (batch, point.text)
            found[key] = max(point.time, found.get(key, 0))
    return found


def _after_its_fault(outcome: Outcome) -> Iterator[tuple[int, str]]:
    """Yield what ran on the driver in runs that the fault did not end."""
    for run in outcome.runs:
        if not run.stop:
            for batch, texts in run.ran.items():
                yield from ((batch, text) for text in texts)


def _after_caught(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, int, CodePoint]]:
    """Yield the points after each broken connection that the code went on after.

    Each is with the name of the fault that breaks it in code which goes on.
    """
    for outcome, _, twin in _caught(outcomes, CAUGHT_ON_DRIVER):
        for run in outcome.runs:
            for batch, points in run.went_on.items():
                yield from ((str(twin), batch, point) for point in points)
