"""A user's own sink beside the model part that its author names for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.report.drift import parting
from onceproof.spark_checks.sinks.named_part import actions_of, part_of, with_part
from onceproof.spark_checks.stores.layered import breaks, itself

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onceproof.model.protocols.parts.sinks.sink import Sink
    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.request import ReplayRequest
    from onceproof.spark_checks.replay.sink_report import SinkReport
    from onceproof.spark_checks.sinks.interface import ModelledSink


@dataclass(frozen=True)
class PartComparison:
    """What a comparison of a sink with its model part gave."""

    part: str
    """The name of the part."""
    compared: int
    """In how many interleavings of the part readers were compared with it."""
    total: int
    """How many interleavings of the part there are."""
    drift: str = ""
    """The first difference, in one sentence; empty if there is none."""
    unsettled: str = ""
    """Why the comparison says less than a claim needs, if it does."""
    lines: tuple[str, ...] = ()
    """What the model and readers say of each moment, and what was not compared."""


def compare(
    report: SinkReport,
    claims: tuple[Property, ...],
    request: ReplayRequest,
    replay: Callable[[ModelledSink, ReplayRequest], SinkReport],
) -> PartComparison | None:
    """Replay the interleavings of the part that a sink names; None if it names none.

    ``report`` is the replay of all the sink's lines, ``claims`` what is claimed of it.
    """
    under_test = report.under_test
    part = None if under_test is None else part_of(under_test)
    if part is None or under_test is None:
        return None
    sink = with_part(report.sink, under_test, part)
    if breaks(sink.store) and sink.store is not None:
        sink = replace(sink, store=itself(sink.store))
    # With one fault a part has few interleavings, and any of them may show the drift.
    most = request.choice.most if request.faults > 1 else None
    choice = replace(request.choice, first=(), most=most)
    asked = replace(request, claims=(), stop=False, retain=False, choice=choice)
    asked = replace(asked, patience=max(request.patience, report.patience))
    return _compared(part, report, replay(sink, asked), claims)


def _compared(
    part: type[Sink],
    report: SinkReport,
    modelled: SinkReport,
    claims: tuple[Property, ...],
) -> PartComparison:
    name = part.label()
    drift, lines = "", list[str]()
    if modelled.drift:
        first = modelled.drift[0]
        drift, lines = _first_moment(first), list(_moments(first))
    elif found := next(_not_kept(report, modelled), None):
        drift = found
    left = [o for o in modelled.outcomes if o.spark is None and o.known]
    reasons = dict.fromkeys(o.not_replayed.splitlines()[0] for o in left)
    lines += [f"not compared with {name}: {reason}" for reason in reasons]
    missing = [
        a for a, full in actions_of(part).items() if full not in modelled.sink.steps
    ]
    if left and missing:
        lines.append(f"steps= names no function for {', '.join(missing)}")
    return PartComparison(
        name,
        len(modelled.replayed),
        len(modelled.classes.classes),
        drift,
        "" if drift else _unsettled(name, report, modelled, claims),
        tuple(lines),
    )


def _not_kept(report: SinkReport, modelled: SinkReport) -> Iterator[str]:
    """Yield the guarantees that the part keeps, and that the sink was seen to break."""
    if breaks(report.sink.store):
        # The part knows no broken connections.
        return
    for prop in modelled.properties:
        outcome = report.first_break(prop)
        if outcome is not None and modelled.model.verdicts[prop.name].holds:
            yield (
                f"the model keeps {prop.name}, but interleaving "
                f"{outcome.interleaving.number} of your code breaks it "
                f"({_how(outcome)})"
            )


def _unsettled(
    name: str,
    report: SinkReport,
    modelled: SinkReport,
    claims: tuple[Property, ...],
) -> str:
    """Return why the sink cannot be called as its part says, though nothing differs."""
    if modelled.missed:
        reasons = (o.not_replayed or o.unread for o in modelled.missed)
        reason = next(filter(None, reasons), "an interleaving differed in some replays")
        return f"it could not be compared with its model {name}: {reason}"
    if modelled.left:
        chosen = len(modelled.outcomes) + modelled.left
        return (
            f"it was compared with its model {name} only in part: time ran out before "
            f"{modelled.left} of {chosen} interleavings"
        )
    if not modelled.replayed:
        return f"it could not be compared with its model {name} in any interleaving"
    more = [
        prop.name
        for prop in claims
        if modelled.model.verdicts.get(prop.name) is Verdict.REFUTED
        and report.verdict(prop) is not Verdict.REFUTED
    ]
    if more:
        return f"its model {name} breaks {', '.join(more)}, and no replay did"
    return ""


def _first_moment(outcome: Outcome) -> str:
    """Name the moment at which the model and readers first differ, and how."""
    number = outcome.interleaving.number
    where = f"interleaving {number} of the model ({_how(outcome)})"
    if outcome.model is not None and outcome.spark is not None:
        for moment in parting(outcome.model, outcome.spark):
            if moment.differs:
                model, seen = ", ".join(moment.model), ", ".join(moment.spark)
                return (
                    f"in {where}, {moment.moment}, the model expects {model}, "
                    f"and readers see {seen}"
                )
    if outcome.trace.unexplained:
        return f"in {where}, {outcome.trace.unexplained[0]}"
    if outcome.unplanned:
        why = outcome.unplanned[0]
        return f"in {where}, the query fails, but the model's query does not: {why}"
    return f"in {where}, the query does not end, but the model's query does"


def _moments(outcome: Outcome) -> Iterator[str]:
    """Yield both histories up to where they first differ, and what is unexplained."""
    yield from outcome.trace.unexplained
    if outcome.model is None or outcome.spark is None:
        return
    for moment in parting(outcome.model, outcome.spark):
        differs = "here they differ" if moment.differs else "they agree"
        yield f"{moment.moment}: {differs}"
        yield from (f"  model    {line}" for line in moment.model)
        yield from (f"  readers  {line}" for line in moment.spark)


def _how(outcome: Outcome) -> str:
    return "; ".join(outcome.failpoints) or "no fault"
