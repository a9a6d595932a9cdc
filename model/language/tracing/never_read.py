"""State that decides nothing: no guard, no claim and no other state depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.language.terms import terms as t

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onceproof.model.language.tracing.system import System


def never_read(system: System, claims: Iterable[t.Term]) -> tuple[str, ...]:
    """Return the paths of fields that neither a guard nor a claim depends on.

    State that only such state is made from counts, too.
    """
    live = _read_in(claims)
    live |= _read_in(action.guard for action in system.actions)
    writes = [write for action in system.actions for write in action.writes]
    grows = True
    while grows:
        found = _read_in(
            term
            for write in writes
            if write.field in live
            for term in (write.value, *write.indices)
            if term is not None
        )
        grows = not found <= live
        live |= found
    return tuple(field.path for field in system.fields if field.path not in live)


def _read_in(terms: Iterable[t.Term]) -> set[str]:
    return {
        part.field
        for term in terms
        for part in t.subterms(term)
        if isinstance(part, t.Get)
    }
