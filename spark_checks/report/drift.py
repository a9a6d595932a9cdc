"""Where Spark and the model part: both histories, up to where they first differ."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from onceproof.properties.words.readers import times

if TYPE_CHECKING:
    from onceproof.properties.ledger import History
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.sink_report import SinkReport


@dataclass(frozen=True)
class Moment:
    """What the model and Spark say of a moment: a line for events that stand alike."""

    moment: str
    """The name of the moment."""
    model: tuple[str, ...]
    """What the model says."""
    spark: tuple[str, ...]
    """What readers of real Spark saw."""
    differs: bool
    """Whether the two first differ here."""


def parting(model: History, spark: History) -> tuple[Moment, ...]:
    """Describe both histories up to the moment at which they first differ.

    There is none where they differ in nothing that is seen.
    """
    found = []
    for i, moment in enumerate(model.moments):
        differs = _story(model, i) != _story(spark, i)
        found.append(Moment(moment, _lines(model, i), _lines(spark, i), differs))
        if differs:
            return tuple(found)
    return ()


def drift_data(report: SinkReport, outcome: Outcome) -> dict[str, Any]:
    """Return as plain data how an outcome drifts."""
    moments: tuple[Moment, ...] = ()
    if outcome.model is not None and outcome.spark is not None:
        moments = parting(outcome.model, outcome.spark)
    return {
        "interleaving": outcome.interleaving.number,
        "failpoints": list(outcome.failpoints),
        "moments": [asdict(moment) for moment in moments],
        "unexplained": list(outcome.trace.unexplained),
        "restarts": list(outcome.unplanned),
        "rested": outcome.spark.rested if outcome.spark else None,
        "folder": str(report.kept.get(outcome.interleaving.number, "")),
    }


def _story(history: History, last: int) -> object:
    """Return the outcomes up to a moment, whatever the number of events."""
    alike = {(r.unit, r.accepted, r.outcomes[: last + 1]) for r in history.rows}
    return alike, tuple(n > 0 for n in history.unexplained[: last + 1])


def _lines(history: History, moment: int) -> tuple[str, ...]:
    """Describe the events of each batch at a moment."""
    counts: dict[tuple[int, int, bool], int] = {}
    whole: dict[int, int] = {}
    for row in history.rows:
        outcome = row.outcomes[moment]
        key = (row.unit, outcome.visible, outcome.promised)
        counts[key] = counts.get(key, 0) + row.events
        whole[row.unit] = whole.get(row.unit, 0) + row.events
    lines = [
        f"batch {unit}: {events} of {whole[unit]} seen {times(visible)}"
        f"{', promised' if promised else ''}"
        for (unit, visible, promised), events in sorted(counts.items())
    ]
    if history.unexplained[moment]:
        lines.append(f"{history.unexplained[moment]} seen that nobody wrote")
    return tuple(lines)
