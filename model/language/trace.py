"""Tracing: each method of a protocol is run once on symbols, and leaves terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language import terms as t
from onceproof.model.language.expressions import Symbolic, lift
from onceproof.model.language.identity import refuse_identity
from onceproof.model.language.places import defined_at
from onceproof.model.language.steps import Step, fields_of, steps_of
from onceproof.model.language.stores import SymbolicStore, Write, read_through
from onceproof.model.language.types import BoolType

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.language.fields import Field
    from onceproof.model.language.protocol import Protocol
    from onceproof.model.language.sorts import Sort


@dataclass(frozen=True)
class ActionTerm:
    """An action or fault as terms: for which members, when, and what it writes."""

    name: str
    params: tuple[t.Var, ...]
    guard: t.Term
    writes: tuple[Write, ...]
    fault: bool
    doc: str
    where: str
    fair: bool = False

    def after(self, get: t.Get) -> t.Term:
        """Give what an element holds after the action, in terms of before."""
        return read_through(list(self.writes), get)

    @property
    def written(self) -> tuple[str, ...]:
        """The paths of the fields that the action may change."""
        return tuple(dict.fromkeys(w.field for w in self.writes))


@dataclass(frozen=True, eq=False)
class System:
    """A protocol at given sizes, as terms: all that its readers need."""

    protocol: Protocol
    fields: tuple[Field, ...]
    actions: tuple[ActionTerm, ...]
    sizes: dict[Sort, int]
    sized: frozenset[Sort]

    @property
    def name(self) -> str:
        """The protocol's name on the command line."""
        return self.protocol.label()

    def field(self, path: str) -> Field:
        """Give the field of that path."""
        return next(f for f in self.fields if f.path == path)

    def claim(self, predicate: Callable[..., object], *, steps: bool = False) -> t.Term:
        """Trace ``predicate(protocol)``, or of a step ``predicate(before, after)``."""
        stores = [SymbolicStore(self.sizes)]
        if steps:
            stores.append(SymbolicStore(self.sizes, after=True))
        found = predicate(*(self.protocol.bound(store) for store in stores))
        term = lift(found)
        if not isinstance(t.sort_of(term), BoolType):
            message = f"a claim answers a truth value, not {t.sort_of(term)}"
            code = getattr(predicate, "__code__", None)
            raise ModelError(message, where=defined_at(code) if code else "")
        return term


def trace(protocol: Protocol) -> System:
    """Trace every action and fault of ``protocol`` into terms.

    Raises ``ModelError``, with the line of the model, for what the language does
    not allow.
    """
    for kind in dict.fromkeys(type(p) for p in protocol.all_parts()):
        refuse_identity(kind)
    sized: set[Sort] = set()
    actions = [_traced(protocol, step, sized) for step in steps_of(protocol)]
    return System(
        protocol=protocol,
        fields=fields_of(protocol),
        actions=tuple(a for a in actions if a.guard != t.FALSE),
        sizes=protocol.sizes,
        sized=frozenset(sized),
    )


def _traced(protocol: Protocol, step: Step, sized: set[Sort]) -> ActionTerm:
    store = SymbolicStore(protocol.sizes)
    params = tuple(
        store.fresh(sort, f"{sort.name.lower()}{i}")
        for i, sort in enumerate(step.sorts)
    )
    members: tuple[Any, ...] = tuple(Symbolic(p) for p in params)
    step.run(protocol, store, members)
    sized |= store.sized
    return ActionTerm(
        name=step.name,
        params=params,
        guard=t.conjunction(store.guard),
        writes=tuple(store.writes),
        fault=step.fault,
        doc=step.doc,
        where=step.where,
        fair=step.fair,
    )
