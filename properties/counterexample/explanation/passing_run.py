"""The nearest passing run: the same as long as can be, then to rest without a break."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from onceproof.model.interleavings.failing_runs import successors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.steps import Event
    from onceproof.model.traces import Trace
    from onceproof.properties.counterexample.explanation.obligations import Obligation

Fails: TypeAlias = "Callable[[State, Event, State], bool]"
Owed: TypeAlias = "tuple[bool, ...]"
Node: TypeAlias = "tuple[State, Owed]"

MOST_STATES = 1_500


@dataclass(frozen=True)
class NearestRun:
    """A run that breaks nothing: ``shared`` steps of another, then its own."""

    shared: int
    events: tuple[Event, ...]
    """Its events, the shared ones included."""


def nearest_passing(
    interpreter: Interpreter,
    run: Trace,
    first: int,
    fails: Fails,
    promises: Sequence[Obligation] = (),
    *,
    most: int = MOST_STATES,
) -> tuple[NearestRun | None, str]:
    """Find a run to rest that breaks nothing and leaves ``run`` as late as possible.

    ``run`` breaks at step ``first``; ``fails`` is called for every other step, and none
    of ``promises`` may be pending at rest. Of those that leave it at the same step the
    shortest is taken, one without a further fault if there is one. Where none is found
    it is said why: there is none, or ``most`` states were looked at.
    """
    after = successors(interpreter)
    states = run.states
    left = most
    for shared in range(min(first, len(states)) - 1, -1, -1):
        taken = run.events[shared] if shared < len(run.events) else None
        for faults in (False, True):
            search = _RestSearch(after, fails, promises, faults=faults, most=left)
            pending = tuple(p.pending(states[: shared + 1]) for p in promises)
            found = search.to_rest((states[shared], pending), taken, interpreter)
            left -= search.looked
            if found is not None:
                return NearestRun(shared, (*run.events[:shared], *found)), ""
            if left <= 0:
                return None, f"none was found among the {most:,} states looked at"
    return None, "no run from this start reaches rest without breaking it"


class _RestSearch:
    """Looks for rest breadth first, and never beyond a state where a claim fails."""

    def __init__(
        self,
        after: Callable[[State], dict[Event, State]],
        fails: Fails,
        promises: Sequence[Obligation],
        *,
        faults: bool,
        most: int,
    ) -> None:
        self._after = after
        self._fails = fails
        self._promises = promises
        self._faults = faults
        self._most = most
        self.looked = 0

    def to_rest(
        self, start: Node, taken: Event | None, interpreter: Interpreter
    ) -> tuple[Event, ...] | None:
        """Return the events that lead to rest, the first of them not ``taken``."""
        came: dict[Node, tuple[Node, Event] | None] = {start: None}
        todo = deque([start])
        while todo and self.looked < self._most:
            node = todo.popleft()
            state, pending = node
            self.looked += 1
            if not any(pending) and interpreter.resting(state):
                return _way(came, node)
            for event, then in self._after(state).items():
                if event.fault and not self._faults:
                    continue
                if node == start and event == taken:
                    continue
                pairs = zip(self._promises, pending, strict=True)
                next_ = then, tuple(p.on(o, then) for p, o in pairs)
                if next_ not in came and not self._fails(state, event, then):
                    came[next_] = (node, event)
                    todo.append(next_)
        return None


def _way(came: dict[Node, tuple[Node, Event] | None], node: Node) -> tuple[Event, ...]:
    found = []
    step = came[node]
    while step is not None:
        before, event = step
        found.append(event)
        step = came[before]
    return tuple(reversed(found))
