"""Which fields of a system outlive a crash, or are seen by whoever looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onceproof.model.language.declarations.decorators import ObserveMark
from onceproof.model.language.expressions.symbolic_value import Symbolic, lift
from onceproof.model.language.stores.symbolic_store import SymbolicStore
from onceproof.model.language.terms import terms as t

if TYPE_CHECKING:
    from onceproof.model.language.tracing.system import System


def is_durable(system: System, path: str) -> bool:
    """Return whether a field outlives a crash; budgets of faults do not count."""
    return not (_is_budget(path) or system.field(path).volatile)


def _is_budget(path: str) -> bool:
    return path.split(".", maxsplit=1)[0] == "faults"


def observed(system: System) -> frozenset[str]:
    """List the fields that an observer of the protocol reads."""
    found: set[str] = set()
    for name, mark, _ in system.protocol.marked(ObserveMark):
        store = SymbolicStore(system.sizes, frozen=True)
        members = [Symbolic(store.fresh(sort)) for sort in mark.per]
        answer: Any = getattr(system.protocol.bound(store), name)(*members)
        reads = t.subterms(lift(answer))
        found |= {term.field for term in reads if isinstance(term, t.Get)}
    return frozenset(found)


def durable_fields(system: System) -> frozenset[str]:
    """List the fields that outlive a crash; what is observed counts as durable."""
    kept = {f.path for f in system.fields if is_durable(system, f.path)}
    return observed(system) | kept
