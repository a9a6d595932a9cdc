"""What a step changes, and rest: where no action, faults apart, changes anything."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.model.language.terms import terms as t

if TYPE_CHECKING:
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System


def rests(system: System) -> t.Term:
    """Say that no action, faults apart, changes anything."""
    return t.conjunction(
        t.quantified(t.ForAll, action.params, t.negation(_moves(system, action)))
        for action in system.actions
        if not action.fault
    )


def changes(system: System, action: ActionTerm) -> t.Term:
    """Say of the state before an enabled action that the action changes it.

    A step is a change of state: an action that leaves the state as it is takes none.
    """
    found = []
    for number, write in enumerate(action.writes):
        field = system.field(write.field)
        bound = tuple(replace(v, name=f"{v.name}.{number}") for v in write.vars)
        get = t.Get(field.path, bound if write.whole else write.indices, field.type)
        changed = t.negation(t.equality(action.after(get), get))
        found.append(t.quantified(t.Exists, bound, changed))
    return t.disjunction(found)


def _moves(system: System, action: ActionTerm) -> t.Term:
    """Say that an action is enabled and changes something."""
    return t.conjunction([action.guard, changes(system, action)])
