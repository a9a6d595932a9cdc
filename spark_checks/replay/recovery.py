"""The lines that a sink's code runs only after a fault, where another may hit it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.spark_checks.sinks.code_points import CodePoint, installed, returns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.sinks.code_points import SeenPoints


def with_recovery(seen: SeenPoints, outcomes: Iterable[Outcome]) -> SeenPoints:
    """Add the lines that the driver's code reached after the fault of an interleaving.

    Each of ``outcomes`` has one fault. Code that repairs what a dead run has left runs
    only then, and a second fault may hit it.
    """
    known = {b: {point.text for point in points} for b, points in seen.driver.items()}
    leads: dict[tuple[int, str], set[str]] = {}
    for outcome in outcomes:
        trace = outcome.interleaving.trace
        faults = {str(trace.events[at]) for at in outcome.interleaving.faults}
        for batch, text in _after_its_fault(outcome):
            own = not returns(text) and not installed(text)
            if own and text not in known.get(batch, ()):
                leads.setdefault((batch, text), set()).update(faults)
    driver = dict(seen.driver)
    for batch, text in leads:
        driver[batch] = (*driver.get(batch, ()), CodePoint(text))
    every = {place: frozenset(faults) for place, faults in leads.items()}
    return replace(seen, driver=driver, leads=every)


def lines_of_restarts(outcomes: Iterable[Outcome]) -> set[str]:
    """Return what the driver's code ran in runs that no fault ended."""
    return {text for one in outcomes for _, text in _after_its_fault(one)}


def _after_its_fault(outcome: Outcome) -> Iterator[tuple[int, str]]:
    """Yield what ran on the driver in runs that the fault did not end."""
    for run in outcome.runs:
        if not run.stop:
            for batch, texts in run.ran.items():
                yield from ((batch, text) for text in texts)
