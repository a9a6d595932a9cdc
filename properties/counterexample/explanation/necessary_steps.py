"""Which steps of a run matter: it is taken again without the others, and still breaks.

Steps are left out one after the other, the last first, as long as all that are left can
be taken and the claim still fails where it ends. What is left is minimal: without any
one of its steps the run is not possible, or breaks nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.steps import Event

MOST_STEPS = 120


def matters(
    interpreter: Interpreter,
    start: State,
    events: Sequence[Event],
    fails: Callable[[Sequence[State], Sequence[int]], bool],
) -> frozenset[int] | None:
    """Find the steps, from 1, without which a run does not end where a claim fails.

    ``fails`` gets the states of a run, and the numbers of the events it takes, from
    0. Answers None where the run itself does
    not fail at its end, or has more than ``MOST_STEPS`` steps.
    """
    if len(events) > MOST_STEPS or not fails(
        _states(interpreter, start, events) or (), range(len(events))
    ):
        return None
    kept = list(range(len(events)))
    shorter = True
    while shorter:
        shorter = False
        for at in reversed(kept):
            tried = [i for i in kept if i != at]
            states = _states(interpreter, start, [events[i] for i in tried])
            if states is not None and fails(states, tried):
                kept, shorter = tried, True
    return frozenset(i + 1 for i in kept)


def _states(
    interpreter: Interpreter, start: State, events: Sequence[Event]
) -> list[State] | None:
    """Take events one after the other; None where one is not enabled."""
    states = [start]
    for event in events:
        after = interpreter.after(states[-1], event)
        if after is None:
            return None
        states.append(after)
    return states
