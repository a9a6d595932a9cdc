"""A protocol in plain Python whose moves are worked out by native code."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.language.interpreter import Interpreter, State
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.native.portable import PortableExpander
from onceproof.model.search.states.layout import Layout

if TYPE_CHECKING:
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.steps import Event

_KEPT = 10_000
"""Of how many states the moves are remembered."""


class NativeInterpreter(Interpreter):
    """An interpreter that answers at once where a state leads, and whether it rests.

    Compiling takes some tenths of a second, which is worth it where many states are
    asked for. What changes nothing, or is not enabled, is still asked of plain Python.
    """

    def __init__(self, protocol: Protocol) -> None:
        """Compile the actions of the protocol."""
        super().__init__(protocol)
        system = trace(protocol)
        self._layout = Layout(system.fields, system.sizes)
        self._expander = PortableExpander.of(
            system,
            self._layout,
            claims=(),
            flag_words=1,
            step_claims=(),
            symmetry=None,
        )
        self._events = system.events()
        self._moves = functools.lru_cache(_KEPT)(self._expanded)

    def after(self, state: State, event: Event) -> State | None:
        """Return the state after ``event``, or None where it is not enabled."""
        return self.moves(state).get(event) or super().after(state, event)

    def moves(self, state: State) -> dict[Event, State]:
        """Return the events that change a state, each with the state it leads to."""
        return self._moves(state)

    def _expanded(self, state: State) -> dict[Event, State]:
        row = np.array([self._layout.pack(state)], np.int64)
        found = self._expander.expand(row)
        return {
            self._events[event]: self._layout.unpack(words)
            for event, words in zip(
                found.events.tolist(), found.states.tolist(), strict=True
            )
        }
