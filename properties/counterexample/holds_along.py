"""A run of a model taken again: what a test that was copied from the explorer calls."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.interleavings.failing_runs import successors
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.library import pick
from onceproof.model.traces import follow
from onceproof.properties.counterexample.explanation.obligations import (
    broken_for_ever,
    promises_of,
)
from onceproof.properties.counterexample.explanation.property_timeline import (
    FAILS,
    PropertyTimeline,
)
from onceproof.properties.counterexample.model_run import start_of
from onceproof.properties.judges.by_search import claims_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onceproof.model.language.composition.protocol import Protocol


def holds_along(
    protocol: Protocol,
    claim: str,
    steps: Sequence[str],
    *,
    start: Mapping[str, Any] | None = None,
    loop: int | None = None,
) -> bool:
    """Take steps such as ``write(0, 1)`` in plain Python; say if a claim holds in all.

    ``start`` names elements of the first state, where there are several. A claim about
    whole runs is judged of the run that repeats the steps after ``loop`` for ever, or
    stays where the steps end. Raises ``UsageError`` for steps that cannot be taken, for
    a ``loop`` that does not lead back, and for a claim that is not known.
    """
    interpreter = Interpreter(protocol)
    known = {prop.name: prop for prop in claims_of(protocol)}
    prop = known[pick(claim, known, "property")]
    events = tuple(map(_event, steps))
    try:
        run = follow(interpreter, start_of(interpreter, dict(start or {})), events)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if FAILS in PropertyTimeline.of(prop, interpreter, run.states).cells:
        return False
    back = len(events) if loop is None else loop
    if not 0 <= back <= len(events) or run.states[back] != run.states[-1]:
        message = f"after step {back} the run is not where it ends"
        raise UsageError(message)
    after = successors(interpreter)
    return not any(
        broken_for_ever(promise, after, run.states, events, back)
        for promise in promises_of(prop, interpreter)
    )


def _event(text: str) -> Event:
    found = re.fullmatch(r"([\w.]+)\(([\d, ]*)\)", text)
    if found is None:
        message = f"a step is written as write(0, 1), not {text!r}"
        raise UsageError(message)
    name, members = found.groups()
    numbers = itertools.takewhile(bool, (m.strip() for m in members.split(",")))
    return Event(name, tuple(int(number) for number in numbers))
