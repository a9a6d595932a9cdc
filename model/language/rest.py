"""Rest: where no action, faults apart, changes anything any more, as a term."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.model.language import terms as t

if TYPE_CHECKING:
    from onceproof.model.language.trace import ActionTerm, System


def rests(system: System) -> t.Term:
    """Say that no action, faults apart, changes anything."""
    return t.conjunction(
        t.quantified(t.ForAll, action.params, t.negation(_moves(system, action)))
        for action in system.actions
        if not action.fault
    )


def _moves(system: System, action: ActionTerm) -> t.Term:
    """Say that an action is enabled and changes something."""
    changes = []
    for number, write in enumerate(action.writes):
        field = system.field(write.field)
        bound = tuple(replace(v, name=f"{v.name}.{number}") for v in write.vars)
        get = t.Get(field.path, bound if write.whole else write.indices, field.type)
        changed = t.negation(t.equality(action.after(get), get))
        changes.append(t.quantified(t.Exists, bound, changed))
    return t.conjunction([action.guard, t.disjunction(changes)])
