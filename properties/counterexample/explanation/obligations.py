"""Claims about whole runs: which obligations are pending, and which for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.language.declarations.modality import Modality

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.interleavings.failing_runs import Successors
    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.steps import Event
    from onceproof.properties.property import Clause, Property


@dataclass(frozen=True)
class Obligation:
    """A clause that says what has to come about: ``eventually``, or ``leads_to``."""

    prop: Property
    """The property that the clause belongs to."""
    clause: Clause
    """The clause."""
    interpreter: Interpreter
    """The protocol in plain Python."""

    def pending(self, states: Sequence[State]) -> bool:
        """Return whether it has still to come about at the end of a run."""
        pending = False
        for number, state in enumerate(states):
            pending = self.on(pending or (number == 0 and self._from_the_start), state)
        return pending

    @property
    def _from_the_start(self) -> bool:
        return self.clause.when is Modality.EVENTUALLY

    def on(self, pending: bool, state: State) -> bool:  # noqa: FBT001 - what is carried on
        """Return whether it is pending after a state, given whether it was before."""
        holds: Any = self.clause.holds(self.prop.view(self.interpreter.look(state)))
        given, then = (False, holds) if self._from_the_start else holds
        return bool((pending or given) and not then)


def promises_of(prop: Property, interpreter: Interpreter) -> tuple[Obligation, ...]:
    """List the clauses of a property that are about whole runs."""
    about_runs = (c for c in prop.clauses if c.when.of_runs)
    return tuple(Obligation(prop, clause, interpreter) for clause in about_runs)


def broken_for_ever(
    promise: Obligation,
    after: Successors,
    states: Sequence[State],
    events: Sequence[Event],
    loop: int,
) -> bool:
    """Return whether a run that repeats its steps after ``loop`` is fair and breaks it.

    It is fair to an event that somewhere in what is repeated happens, or could change
    nothing. With nothing to repeat the run stays where it ends.
    """
    if states[-1] != states[loop]:
        return False
    repeated = states[loop:]
    starved = set.intersection(
        *({event for event in after(state) if event.fair} for state in repeated)
    )
    if starved - set(events[loop:]):
        return False
    pending = promise.pending(states)
    for state in repeated:
        if not pending:
            return False
        pending = promise.on(pending, state)
    return pending
