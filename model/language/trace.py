"""Tracing: each method of a protocol is run once on symbols, and leaves terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language import terms as t
from onceproof.model.language.expressions import Symbolic, lift
from onceproof.model.language.identity import refuse_identity
from onceproof.model.language.places import here, modelling
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
        stores = [SymbolicStore(self.sizes, frozen=True)]
        if steps:
            stores.append(SymbolicStore(self.sizes, after=True, frozen=True))
        found = predicate(*(self.protocol.bound(store) for store in stores))
        if found is None:
            message = "a claim answers a truth value; this one answers nothing"
            raise ModelError(message, where=here())
        term = lift(found)
        if not isinstance(t.sort_of(term), BoolType):
            message = f"a claim answers a truth value, not {t.sort_of(term)}"
            raise ModelError(message, where=here())
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


def _run(protocol: Protocol, step: Step) -> tuple[tuple[t.Var, ...], SymbolicStore]:
    """Run a step on symbols; give what stands for its members, and what it left."""
    store = SymbolicStore(protocol.sizes)
    params = tuple(
        store.fresh(sort, f"{sort.name.lower()}{i}")
        for i, sort in enumerate(step.sorts)
    )
    members: tuple[Any, ...] = tuple(Symbolic(p) for p in params)
    with modelling(step.where):
        step.run(protocol, store, members)
    return params, store


def _traced(protocol: Protocol, step: Step, sized: set[Sort]) -> ActionTerm:
    params, store = _run(protocol, step)
    _, again = _run(protocol, step)
    if (store.guard, store.writes) != (again.guard, again.writes):
        message = (
            f"{step.name} does not do the same when it is run again; let it depend on "
            "the state alone, and write an action for each choice"
        )
        raise ModelError(message, where=step.where)
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
