"""A shortest trace to a state that Spark found, worked out level by level backwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.traces import Trace
from onceproof.spark_checks.engine.level_jobs import predecessors
from onceproof.spark_checks.engine.state_table import schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.steps import Event
    from onceproof.model.search.native.portable import PortableExpander
    from onceproof.model.search.states.layout import Layout
    from onceproof.model.search.symmetry import Symmetry
    from onceproof.spark_checks.engine.state_table import StateTable


@dataclass(frozen=True)
class Backwards:
    """Looks for the way to a state among the states of a search."""

    table: StateTable
    """The states that were found."""
    expander: PortableExpander
    """The code that computes successors."""
    layout: Layout
    """How states are packed."""
    interpreter: Interpreter
    """The protocol, as plain Python executes it."""
    events: Sequence[Event]
    """The events, in the order of their numbers."""
    symmetry: Symmetry | None
    """How states are brought to one form; None without symmetry."""

    def trace_to(self, state: tuple[int, ...], level: int) -> Trace:
        """Return a shortest trace to a packed state of a level.

        Of several ways the one through the least states is chosen. Plain Python
        executes each step again. Under symmetry the trace ends in a state that the
        packed one represents.
        """
        way = [(-1, state)]
        for before in range(level - 1, -1, -1):
            number, source = self._into(way[-1][1], before)
            way[-1] = (number, way[-1][1])
            way.append((-1, source))
        way.reverse()
        start = self._start(way[0][1])
        at, steps = start, list[tuple["Event", "State"]]()
        for number, packed in way[1:]:
            event, at = self._step(at, self.events[number], packed)
            steps.append((event, at))
        return Trace(start, tuple(steps))

    def _into(self, state: tuple[int, ...], level: int) -> tuple[int, tuple[int, ...]]:
        """Find the step from a level into a state: the event, and the state before."""
        names = [*self.table.columns, "event"]
        found = (
            self.table.level(level)
            .mapInArrow(predecessors(self.expander, state), schema(names))
            .orderBy(*names)
            .first()
        )
        if found is None:
            message = f"no state of level {level} leads to {state}"
            raise RuntimeError(message)
        *words, event = (int(value) for value in found)
        return event, tuple(words)

    def _start(self, packed: tuple[int, ...]) -> State:
        """Return the initial state that a packed one represents."""
        for state in self.interpreter.initial_states():
            if self._packed(state) == packed:
                return state
        message = f"no initial state is {packed}"
        raise RuntimeError(message)

    def _step(
        self, state: State, event: Event, packed: tuple[int, ...]
    ) -> tuple[Event, State]:
        """Take the step to a state that a packed one represents, in plain Python."""
        alike = [event] if self.symmetry is None else self.events
        for one in alike:
            if one.name != event.name:
                continue
            after = self.interpreter.after(state, one)
            if after is not None and self._packed(after) == packed:
                return one, after
        message = f"{event} does not lead to the state that the search found"
        raise RuntimeError(message)

    def _packed(self, state: State) -> tuple[int, ...]:
        row = np.array([self.layout.pack(state)], np.int64)
        if self.symmetry is not None:
            self.symmetry.reduce(row, 1)
        return tuple(int(word) for word in row[0])
