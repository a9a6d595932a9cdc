"""Traces: what happened, step by step, with the state after each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.steps import Event


@dataclass(frozen=True)
class Trace:
    """An interleaving with the state after each event.

    A lasso has a ``loop``: its last state equals the state after ``loop`` steps, and
    the steps in between repeat for ever. Without a step in between, nothing happens
    any more.
    """

    start: State
    """The initial state."""
    steps: tuple[tuple[Event, State], ...]
    """Each event, with the state after it."""
    loop: int | None = None
    """After how many steps the loop begins; None for a finite trace."""

    @property
    def states(self) -> tuple[State, ...]:
        """All states, the first one included."""
        return (self.start, *(state for _, state in self.steps))

    @property
    def events(self) -> tuple[Event, ...]:
        """All events in order."""
        return tuple(event for event, _ in self.steps)


def follow(interpreter: Interpreter, start: State, events: tuple[Event, ...]) -> Trace:
    """Run ``events`` in plain Python from ``start``.

    Raises ``ValueError`` at the first event that is not enabled.
    """
    steps = []
    state = start
    for number, event in enumerate(events, 1):
        after = interpreter.after(state, event)
        if after is None:
            message = f"step {number}, {event}, is not enabled"
            raise ValueError(message)
        steps.append((event, after))
        state = after
    return Trace(start, tuple(steps))
