"""How properties stand along a run: which fails first, and where."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.export.javascript import JUDGED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.properties.property import Clause, Property

HOLDS, FAILS, MET, OPEN, UNJUDGED = "holds", "fails", "met", "open", "not judged here"
# Where nothing moves any more, what does not hold is out of reach for good.
_RESTING = ("at_rest", "recoverable")
_FIRST = (FAILS, HOLDS, MET, OPEN, UNJUDGED)


@dataclass(frozen=True)
class PropertyTimeline:
    """How a property stands in each state of a run: ``first`` is where it first fails.

    A cell is ``holds`` or ``fails``; of a witness ``met``; ``open`` where there is
    nothing to say yet; and ``not judged here`` where only all runs could show it.
    """

    property: str
    text: str
    cells: tuple[str, ...]
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
    if clause.when not in JUDGED:
        return UNJUDGED
    seen = run[-2:] if clause.when == "step" else run[-1:]
    if clause.when == "step":
        if len(seen) < 2:  # noqa: PLR2004 - a step has two states
            return OPEN
        if seen[0] == seen[1]:
            return HOLDS
    if clause.when in _RESTING and not _resting(interpreter, run[-1]):
        return OPEN
    views = [prop.view(interpreter.look(state)) for state in seen]
    holds = bool(clause.holds(*views))
    if clause.when == "sometimes":
        return MET if holds else OPEN
    return HOLDS if holds else FAILS


@functools.lru_cache(2_000)
def _resting(interpreter: Interpreter, state: State) -> bool:
    """Say whether a state rests; those that were asked for lately are known."""
    return interpreter.resting(state)


def breaks(
    prop: Property,
    clause: Clause | None,
    interpreter: Interpreter,
    run: Sequence[State],
) -> bool:
    """Say whether a clause fails at the end of a run; without one, whether any does."""
    clauses = prop.clauses if clause is None else (clause,)
    return any(cell_of(prop, c, interpreter, run) == FAILS for c in clauses)
