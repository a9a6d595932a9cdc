"""What is said of a trace and a model: as lines of text, and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.text import printable
from onceproof.properties.words.labels import Labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.model.conformance.check import Conformance
    from onceproof.model.conformance.divergence import Behaviour, Divergence, NearMiss
    from onceproof.model.conformance.observed import ObservedEvent, ObservedTrace
    from onceproof.model.language.composition.protocol import Protocol

_MOST_ROWS = 30
_SILENT = "(leaves no event)"


def conclusion(found: Conformance, trace: ObservedTrace, protocol: Protocol) -> str:
    """Say in one sentence whether a trace conforms."""
    model = protocol.label()
    if found.undecided:
        return (
            f"it is not known whether this is a behaviour of {model}: "
            f"{found.undecided}; help: --max-states"
        )
    total = found.observations
    if found.divergence is None:
        return f"a behaviour of {model} explains {_all(total)}"
    first = _place(found.divergence.observation, found.divergence.position)
    text = trace.observations[found.divergence.position].text
    return (
        f"no behaviour of {model} explains this: {first} of {total}, {text}, is the "
        "first that none explains"
    )


def why(divergence: Divergence, protocol: Protocol) -> Iterator[str]:
    """Say why nothing explains the first event that is not explained."""
    labels = Labels(Interpreter(protocol))
    states = divergence.states
    where = "the state" if states == 1 else f"each of the {states} states"
    yield f"in {where} that the events before it can lead to:"
    for miss in divergence.nearest:
        for line in _of_miss(miss, labels):
            yield f"  {line}"
    if divergence.missing and divergence.nearest:
        state = divergence.nearest[0].state
        steps = ", ".join(labels.event(one, state) for one in divergence.missing)
        yield f"help: the model explains it after {steps}, which the trace lacks"
    if divergence.rest:
        yield "help: without this one event, the rest of the trace is explained"


def side_by_side(
    found: Conformance, trace: ObservedTrace, protocol: Protocol
) -> Iterator[str]:
    """Show the events of a trace beside the steps of a behaviour that explains them."""
    if found.behaviour is None:
        return
    rows = list(_rows(found.behaviour, trace, Labels(Interpreter(protocol))))
    if found.divergence is not None:
        one = found.divergence
        text = printable(one.observation.text)
        rows.append((_number(one.observation, one.position), text, "no step"))
    left = len(rows) - _MOST_ROWS
    if left > 0:
        yield f"({left} rows before these are left out)"
        rows = rows[left:]
    numbers, texts = (max(len(row[at]) for row in rows) for at in (0, 1))
    for number, text, step in rows:
        yield f"{number:>{numbers}}  {text:<{texts}}  {step}".rstrip()


def conformance_data(
    found: Conformance, trace: ObservedTrace, protocol: Protocol
) -> dict[str, Any]:
    """Return what is said of a trace and a model as plain data."""
    labels = Labels(Interpreter(protocol))
    return {
        "conforms": found.conforms,
        "events": found.observations,
        "explained": found.explained,
        "states": found.states,
        "silent": sorted({name for one in trace.silences for name in one.steps}),
        "undecided": found.undecided,
        "behaviour": []
        if found.behaviour is None
        else _steps_data(found.behaviour, trace, labels),
        "divergence": None
        if found.divergence is None
        else _divergence_data(found.divergence, trace, labels),
    }


def _of_miss(miss: NearMiss, labels: Labels) -> Iterator[str]:
    if miss.event is None:
        yield from (f"{part}" for part in miss.failed)
        return
    step = labels.event(miss.event, miss.state)
    where = f" ({miss.where})" if miss.where else ""
    kind = "needs" if miss.failed[0].of_guard else "is possible, but was observed with"
    yield f"{step}{where} {kind} {'; '.join(map(str, miss.failed))}"


def _rows(
    behaviour: Behaviour, trace: ObservedTrace, labels: Labels
) -> Iterator[tuple[str, str, str]]:
    """Yield the events and steps in order: number, event, step."""
    state = behaviour.trace.start
    steps = []
    for (event, after), position in zip(
        behaviour.trace.steps, behaviour.observed, strict=True
    ):
        steps.append((labels.event(event, state), position))
        state = after
    shown = 0
    for text, position in steps:
        if position is None:
            yield "", _SILENT, text
            continue
        while shown < position:
            # A return, or an observed state, has no step of its own.
            yield _row(trace, shown, "")
            shown += 1
        if shown == position:
            yield _row(trace, position, text)
            shown += 1
        else:
            called = _place(trace.observations[position], position)
            yield "", f"(effect of the call of {called})", text
    while shown < behaviour.explained:
        yield _row(trace, shown, "")
        shown += 1


def _row(trace: ObservedTrace, position: int, step: str) -> tuple[str, str, str]:
    one = trace.observations[position]
    return _number(one, position), printable(one.text), step


def _number(one: ObservedEvent, position: int) -> str:
    return str(one.line or position + 1)


def _place(one: ObservedEvent, position: int) -> str:
    line = f" (line {one.line})" if one.line else ""
    return f"event {position + 1}{line}"


def _all(total: int) -> str:
    return "its only event" if total == 1 else f"all {total} events"


def _steps_data(
    behaviour: Behaviour, trace: ObservedTrace, labels: Labels
) -> list[dict[str, Any]]:
    state = behaviour.trace.start
    found = []
    for (event, after), position in zip(
        behaviour.trace.steps, behaviour.observed, strict=True
    ):
        line = None if position is None else trace.observations[position].line
        at = None if position is None else position + 1
        found.append({"step": labels.event(event, state), "event": at, "line": line})
        state = after
    return found


def _divergence_data(
    divergence: Divergence, trace: ObservedTrace, labels: Labels
) -> dict[str, Any]:
    return {
        "event": divergence.position + 1,
        "line": divergence.observation.line,
        "text": divergence.observation.text,
        "states": divergence.states,
        "nearest": [
            {
                "step": "" if n.event is None else labels.event(n.event, n.state),
                "where": n.where,
                "failed": [
                    {"part": p.text, "found": list(p.found), "guard": p.of_guard}
                    for p in n.failed
                ],
                "state": labels.state(n.state),
                "behaviour": _steps_data(n.behaviour, trace, labels),
            }
            for n in divergence.nearest
        ],
        "missing": [str(event) for event in divergence.missing],
        "rest": divergence.rest,
    }
