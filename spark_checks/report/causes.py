"""Causes: the guarantees that a sink breaks, grouped by the failure that breaks them.

One crash often breaks several guarantees. It is one story, and is reported once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.properties.counterexample.readers import at_moment, breach, readers_see
from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.judges.by_history import broken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.sink_report import SinkReport


@dataclass(frozen=True)
class Cause:
    """One interleaving, and the guarantees whose smallest counterexample it is."""

    outcome: Outcome
    """What came of the interleaving."""
    guarantees: tuple[Property, ...]
    """The guarantees that it breaks first; ``shown`` is one of them."""
    shown: Property
    """The guarantee that the story is about: effectively-once, if it is broken."""
    how: str
    """What was done to the query."""
    seen: str
    """When readers looked, and what they saw that should not be."""


def causes_of(
    report: SinkReport, claims: Iterable[Property] | None = None
) -> list[Cause]:
    """Group the guarantees that a sink breaks by the interleaving that is shown."""
    groups: dict[int, tuple[Outcome, list[Property]]] = {}
    for prop in report.properties if claims is None else claims:
        outcome = report.first_break(prop)
        if outcome is not None:
            number = outcome.interleaving.number
            groups.setdefault(number, (outcome, []))[1].append(prop)
    return [_cause(outcome, props) for outcome, props in groups.values()]


def _cause(outcome: Outcome, props: list[Property]) -> Cause:
    shown = EFFECTIVELY_ONCE if EFFECTIVELY_ONCE in props else props[0]
    history = outcome.spark
    place = broken(shown, history) if history is not None else None
    if history is None or place is None:
        message = f"interleaving {outcome.interleaving.number} breaks nothing"
        raise ValueError(message)
    clause, moment = place
    when = at_moment(history.moments[moment], rested=history.rested)
    seen = breach(shown, clause, readers_see(history, moment))
    how = "; ".join(outcome.failpoints) or "the query is restarted"
    return Cause(outcome, tuple(props), shown, how, f"{when}, {seen}")
