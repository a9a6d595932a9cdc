"""Causes: the guarantees that a sink breaks, grouped by the failure that breaks them.

One crash often breaks several guarantees. It is one story, and is reported once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.judges.by_history import broken
from onceproof.properties.words.readers import (
    at_moment,
    breach,
    readers_see,
)

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
    clause, when, seen = _broken_at(shown, outcome)
    how = _how(outcome)
    return Cause(
        outcome, tuple(props), shown, how, f"{when}, {breach(shown, clause, seen)}"
    )


def _broken_at(prop: Property, outcome: Outcome) -> tuple[int, str, str]:
    """Return which clause a run breaks first, when, and what readers see then."""
    history = outcome.spark
    place = broken(prop, history) if history is not None else None
    if history is None or place is None:
        message = f"interleaving {_number(outcome)} does not break {prop.name}"
        raise ValueError(message)
    clause, moment = place
    when = at_moment(history.moments[moment], rested=history.rested)
    return clause, when, readers_see(history, moment)


def _how(outcome: Outcome) -> str:
    return "; ".join(outcome.failpoints) or "the query is restarted"


def _number(outcome: Outcome) -> int:
    return outcome.interleaving.number


def broken_besides(
    report: SinkReport, shown: Property, outcome: Outcome, claims: Iterable[Property]
) -> list[str]:
    """Say what else is broken, a sentence each, where one failure is shown in full.

    These are the other claims that are refuted, and runs that break the claim that is
    ``shown`` in another way: where the run that is shown repeats events, one that loses
    some. The latter were not replayed a second time.
    """
    number = _number(outcome)
    found, named = [], {number}
    for cause in causes_of(report, [p for p in claims if p is not shown]):
        names = ", ".join(prop.name for prop in cause.guarantees)
        if _number(cause.outcome) == number:
            found.append(f"the same run breaks {names}")
        else:
            named.add(_number(cause.outcome))
            found.append(f"not {names}: {_what(cause.shown, cause.outcome)}")
    unsteady = report.unsteady.get(shown.name, {})
    ways = {_way(shown, one) for one in report.replayed if _number(one) in named}
    for other in report.replayed:
        way = _way(shown, other)
        if _number(other) not in unsteady and way is not None and way not in ways:
            ways.add(way)
            found.append(f"in another run: {_what(shown, other)}")
    return found


def _what(prop: Property, outcome: Outcome) -> str:
    """Return what was done in a run, when readers looked, and what they saw."""
    _, when, seen = _broken_at(prop, outcome)
    return f"{_how(outcome)}; {when}, {seen}"


def _way(prop: Property, outcome: Outcome) -> int | None:
    """Return which clause of a property a run breaks first."""
    place = None if outcome.spark is None else broken(prop, outcome.spark)
    return None if place is None else place[0]
