"""The failure interleavings of code with many points, from those of code with few.

Where a fault is injected into the code changes nothing in the model but the name of the
fault: all points but the first are alike. So the interleavings are enumerated for code
with one such point, and each represents as many as there are points.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.traces import Trace
from onceproof.properties.judges.by_search import parameters_of
from onceproof.spark_checks.sinks.exchange_model import (
    CAUGHT,
    EXCHANGE_SORTS,
    goes_on_in_vain,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.model.interleavings.interleaving import Interleaving, Interleavings
    from onceproof.spark_checks.sinks.user_code_model import InstrumentedMicroBatch

POINTS = ("LINE", "WORK", "UNDO", *EXCHANGE_SORTS)
MOST = 300_000


def with_few_points(protocol: InstrumentedMicroBatch) -> InstrumentedMicroBatch:
    """Return the same model of code with at most one point besides the first."""
    sizes = {
        name: value
        for name, value in parameters_of(protocol).items()
        if name != "sink" and "." not in name
    }
    sizes |= {name: min(2, sizes[name]) for name in POINTS if name in sizes}
    return type(protocol)(sink=protocol.sink, **sizes)


def expanded(protocol: InstrumentedMicroBatch) -> Interleavings:
    """Enumerate the failure interleavings of user code with all its points.

    Raises ``UsageError`` where there are too many.
    """
    few = interleavings(with_few_points(protocol))
    few = replace(few, classes=tuple(o for o in few.classes if not _in_vain(o)))
    places = {
        name: [
            (at, protocol.sizes[sort])
            for at, sort in enumerate(step.sorts)
            if sort.name in POINTS
        ]
        for name, step in Interpreter(protocol).steps.items()
    }
    count = sum(
        math.prod(
            size - 1
            for event in one.trace.events
            for _, size in places.get(event.name, ())
        )
        for one in few.classes
    )
    if count > MOST:
        message = (
            f"the sink's code has {count:,} failure interleavings, more than {MOST:,}; "
            "help: ask for fewer faults, or leave out packages with code="
        )
        raise UsageError(message)
    every = (made for one in few.classes for made in _each(one, places))
    numbered = (replace(one, number=n) for n, one in enumerate(every, 1))
    return replace(few, protocol=protocol, classes=tuple(numbered))


def _in_vain(one: Interleaving) -> bool:
    """Return whether it is one with a fault that the code does not go on after."""
    events = one.trace.events
    caught = [at for at in one.faults if events[at].name in CAUGHT.values()]
    return any(goes_on_in_vain(events, at) for at in caught)


def _each(
    one: Interleaving, places: dict[str, list[tuple[int, int]]]
) -> Iterator[Interleaving]:
    """Yield an interleaving for each choice of points for its faults."""
    steps = one.trace.steps
    open_ = [
        (step, at, size)
        for step, (event, _) in enumerate(steps)
        for at, size in places.get(event.name, ())
    ]
    for points in itertools.product(*(range(1, size) for _, _, size in open_)):
        made = list(steps)
        for (step, at, _), point in zip(open_, points, strict=True):
            event, after = made[step]
            members = (*event.members[:at], point, *event.members[at + 1 :])
            made[step] = (replace(event, members=members), after)
        trace = Trace(one.trace.start, tuple(made), one.trace.loop)
        yield replace(one, trace=trace)
