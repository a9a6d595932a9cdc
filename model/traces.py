"""Traces: what happened, step by step, with the state after each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.steps import Event


@dataclass(frozen=True)
class Trace:
    """An interleaving from ``start``, with the state after each event.

    Where ``loop`` is given, the last state is that after ``loop`` steps, and what
    comes between goes on for ever; with no step between, nothing happens any more.
    """

    start: State
    steps: tuple[tuple[Event, State], ...]
    loop: int | None = None

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
