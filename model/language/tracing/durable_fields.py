"""Which fields of a system outlive a crash, or are seen by whoever looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language.declarations.decorators import ObserveMark
from onceproof.model.language.expressions.symbolic_value import Symbolic, lift
from onceproof.model.language.source_location import defined_at
from onceproof.model.language.stores.symbolic_store import SymbolicStore
from onceproof.model.language.terms import terms as t

if TYPE_CHECKING:
    from onceproof.model.language.composition.part import Part
    from onceproof.model.language.tracing.system import System


def is_durable(system: System, path: str) -> bool:
    """Return whether a field outlives a crash; budgets of faults do not count."""
    return not (_is_budget(path) or system.field(path).volatile)


def _is_budget(path: str) -> bool:
    return path.split(".", maxsplit=1)[0] == "faults"


def observed(system: System) -> frozenset[str]:
    """List the fields that an observer of the protocol reads."""
    refuse_observed_parts(system.protocol)
    found: set[str] = set()
    for name, mark, _ in system.protocol.marked(ObserveMark):
        store = SymbolicStore(system.sizes, frozen=True)
        members = [Symbolic(store.fresh(sort)) for sort in mark.per]
        answer: Any = getattr(system.protocol.bound(store), name)(*members)
        reads = t.subterms(lift(answer))
        found |= {term.field for term in reads if isinstance(term, t.Get)}
    return frozenset(found)


def refuse_observed_parts(holder: Part) -> None:
    """Refuse an observation of a part: a protocol has one ledger, and says what it is.

    Raises ``ModelError``.
    """
    for part in holder.parts.values():
        for path, _, method in part.marked(ObserveMark):
            name = path.rpartition(".")[2]
            message = (
                f"{path} is an observation of a part, and only those of the protocol "
                "count; let it be a plain method, and observe it in the protocol, as "
                f"in @observe(...) def {name}(self, ...): return self.{path}(...)"
            )
            raise ModelError(message, where=defined_at(method))
        refuse_observed_parts(part)


def durable_fields(system: System) -> frozenset[str]:
    """List the fields that outlive a crash; what is observed counts as durable."""
    kept = {f.path for f in system.fields if is_durable(system, f.path)}
    return observed(system) | kept
