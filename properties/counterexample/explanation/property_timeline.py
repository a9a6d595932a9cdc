"""The verdicts of properties along a run: which fails first, and where."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from onceproof.model.language.declarations.modality import Modality

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.properties.property import Clause, Property

HOLDS, FAILS, MET, OPEN, UNJUDGED = "holds", "fails", "met", "open", "not judged here"
_FIRST = (FAILS, HOLDS, MET, OPEN, UNJUDGED)


@dataclass(frozen=True)
class PropertyTimeline:
    """A property's verdict in each state of a run: ``first`` is where it first fails.

    A cell is ``holds`` or ``fails``; of a witness ``met``; ``open`` where there is
    nothing to say yet; and ``not judged here`` where only all runs could show it.
    """

    property: str
    """The name of the property."""
    text: str
    """What it claims, as a sentence."""
    cells: tuple[str, ...]
    """A cell for each state of the run, the first state included."""
    first: int | None

    @classmethod
    def of(
        cls, prop: Property, interpreter: Interpreter, states: Sequence[State]
    ) -> PropertyTimeline:
        """Judge a property in each state of a run."""
        cells = []
        for number in range(len(states)):
            found = {
                cell_of(prop, c, interpreter, states[max(0, number - 1) : number + 1])
                for c in prop.clauses
            }
            cells.append(next((cell for cell in _FIRST if cell in found), UNJUDGED))
        first = cells.index(FAILS) if FAILS in cells else None
        return cls(prop.name, prop.text, tuple(cells), first)


def cell_of(
    prop: Property, clause: Clause, interpreter: Interpreter, run: Sequence[State]
) -> str:
    """Judge a clause at the end of a run, by its last state, or its last two."""
    match clause.when:
        case Modality.ALWAYS:
            return HOLDS if _holds(prop, clause, interpreter, run[-1:]) else FAILS
        case Modality.STEP:
            seen = run[-2:]
            if len(seen) < 2:  # noqa: PLR2004 - a step has two states
                return OPEN
            moved = seen[0] != seen[1]
            fails = moved and not _holds(prop, clause, interpreter, seen)
            return FAILS if fails else HOLDS
        case Modality.AT_REST | Modality.RECOVERABLE:
            # Where nothing moves any more, what does not hold stays out of reach.
            if not _resting(interpreter, run[-1]):
                return OPEN
            return HOLDS if _holds(prop, clause, interpreter, run[-1:]) else FAILS
        case Modality.SOMETIMES:
            return MET if _holds(prop, clause, interpreter, run[-1:]) else OPEN
        case Modality.EVENTUALLY | Modality.LEADS_TO:
            return UNJUDGED
        case _:
            assert_never(clause.when)


def _holds(
    prop: Property, clause: Clause, interpreter: Interpreter, seen: Sequence[State]
) -> bool:
    views = [prop.view(interpreter.look(state)) for state in seen]
    return bool(clause.holds(*views))


@functools.lru_cache(2_000)
def _resting(interpreter: Interpreter, state: State) -> bool:
    """Return whether a state rests; those that were asked for lately are known."""
    return interpreter.resting(state)


def breaks(
    prop: Property,
    clause: Clause | None,
    interpreter: Interpreter,
    run: Sequence[State],
) -> bool:
    """Return whether a clause, or any clause, fails at the end of a run."""
    clauses = prop.clauses if clause is None else (clause,)
    return any(cell_of(prop, c, interpreter, run) == FAILS for c in clauses)
