"""Hypothesis strategies: what can fail in a protocol, and what a source may deliver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import reject
from hypothesis import strategies as st

from onceproof.model.errors import UsageError
from onceproof.model.interleavings.failing_runs import (
    MOST_STEPS,
    FailingRuns,
    FaultyWalk,
    starts,
    successors,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.properties.testing.deliveries import event_batches
from onceproof.properties.testing.event_batches import Case, EventBatches
from onceproof.properties.testing.on_spark import drawn_rows, on_spark, replays

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from onceproof.model.interleavings.failing_runs import Injection
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.traces import Trace

# A walk ends at a throw of 0, and a fault happens at the highest three: walks are long
# enough to come to a second batch, and hold late faults as well as early ones.
DICE = 39
THROWS_OF_A_FAULT = 3


def interleavings(
    protocol: Protocol, *, faults: int | None = None
) -> SearchStrategy[Trace]:
    """Draw failure interleavings of a protocol: runs with one fault or more.

    If the protocol's runs can be listed, the strategy draws a run of each equivalence
    class, from start to rest; it lists them once, when it is made. Otherwise it draws
    a bounded random walk, in which every step changes the state. Shrinking prefers the
    fewest faults, then the fewest steps, and for listed runs then the fewest changes
    from one process to another. Like all shrinking it may stop at a run that no small
    change makes simpler.

    ``faults`` is the most faults of a run; by default the protocol decides. Raises
    ``UsageError`` for a protocol in which nothing can fail that often.
    """
    interpreter = Interpreter(protocol)
    most = _most_faults(interpreter, faults)
    try:
        listed = FailingRuns(interpreter, most)
    except UsageError:
        return _walks(interpreter, most)
    if not listed.runs:
        message = (
            f"no run of {protocol.label()} holds a fault; look at the guards of "
            f"{', '.join(s.name for s in interpreter.steps.values() if s.fault)}"
        )
        raise UsageError(message)
    return _runs(listed)


def _most_faults(interpreter: Interpreter, faults: int | None) -> int:
    """Settle how many faults a run may hold; refuse what the protocol cannot do."""
    protocol = interpreter.protocol
    name, allowed = protocol.label(), protocol.argument(type(protocol).faults)
    if not any(step.fault for step in interpreter.steps.values()):
        message = (
            f"nothing can fail in {name}; declare a @fault, and make it with faults=1 "
            "or more"
        )
        raise UsageError(message)
    if faults is None:
        return allowed
    if not 1 <= faults <= allowed:
        message = (
            f"faults must be 1 to {allowed}, which {name} allows, not {faults}; make "
            f"it with faults={max(faults, 1)} to draw so many"
        )
        raise UsageError(message)
    return faults


def _runs(listed: FailingRuns) -> SearchStrategy[Trace]:
    """Draw the injections of a run one by one, so that shrinking can leave some out."""

    @st.composite
    def runs(draw: st.DrawFn) -> Trace:
        made: tuple[Injection, ...] = ()
        while listed.goes_on(made) and (made not in listed.runs or draw(st.booleans())):
            made += (listed.next(made, draw(st.sampled_from(listed.injections))),)
        return draw(st.sampled_from(listed.runs[made]))

    return runs()


def _walks(interpreter: Interpreter, most: int) -> SearchStrategy[Trace]:
    """Draw a walk step by step, each by its number among all that are named.

    It is the same step where, in shrinking, those before it are left out.
    """
    after = successors(interpreter)
    events = list(interpreter.events())
    named = {
        fault: st.sampled_from([e for e in events if e.fault == fault])
        for fault in {event.fault for event in events}
    }
    begin = st.tuples(*(st.sampled_from(values) for values in starts(interpreter)))

    @st.composite
    def walks(draw: st.DrawFn) -> Trace:
        walk = FaultyWalk(after, draw(begin), most)
        while len(walk) < MOST_STEPS and (dice := draw(st.integers(0, DICE))):
            kinds = [k for k in (False, True) if walk.possible(fault=k)]
            if not kinds:
                break
            fault = kinds[-1] if dice > DICE - THROWS_OF_A_FAULT else kinds[0]
            possible = walk.possible(fault=fault)
            walk.take(draw(named[fault].filter(possible.__contains__)))
        return walk.failing() or reject()

    return walks()


__all__ = [
    "Case",
    "EventBatches",
    "drawn_rows",
    "event_batches",
    "interleavings",
    "on_spark",
    "replays",
]
