"""Tracing: each method of a protocol is run once on symbols, and leaves terms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language.expressions.symbolic_value import Symbolic
from onceproof.model.language.source_location import modelling
from onceproof.model.language.steps import Step, fields_of, steps_of
from onceproof.model.language.stores.outside_values import nothing_from_outside
from onceproof.model.language.stores.swallowed_errors import nothing_swallowed
from onceproof.model.language.stores.symbolic_store import (
    FieldWrite,
    SymbolicStore,
)
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import OptionalType
from onceproof.model.language.tracing.action_term import ActionTerm
from onceproof.model.language.tracing.comparison import Samples
from onceproof.model.language.tracing.identity import refuse_identity
from onceproof.model.language.tracing.side_effects import (
    Surroundings,
    refuse_attributes,
)
from onceproof.model.language.tracing.system import System, settled

if TYPE_CHECKING:
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.sorts import Sort


def trace(protocol: Protocol) -> System:
    """Trace every action and fault of ``protocol`` into terms, once.

    Raises ``ModelError``, with the line of the model, for what the language does
    not allow, and where terms mean something else than plain Python does.
    """
    found: System | None = protocol.__dict__.get("_traced")
    return _trace(protocol) if found is None else found


def _trace(protocol: Protocol) -> System:
    optional = any(isinstance(f.type, OptionalType) for f in protocol.all_fields())
    for kind in dict.fromkeys(type(p) for p in protocol.all_parts()):
        refuse_identity(kind, nobody=optional)
    sized: set[Sort] = set()
    sizes = dict(protocol.sizes)
    steps = steps_of(protocol)
    around = Surroundings(protocol)
    actions = [_traced(protocol, step, sized, around) for step in steps]
    system = System(
        protocol=protocol,
        fields=fields_of(protocol),
        actions=tuple(a for a in actions if a.guard != t.FALSE),
        sizes=sizes,
        sized=frozenset(sized),
    )
    samples = Samples(protocol, system.fields, sizes)
    samples.actions(zip(steps, actions, strict=True))
    around.check("an action", "")
    protocol.__dict__.update(_traced=system, _samples=samples)
    return system


def _run(protocol: Protocol, step: Step) -> tuple[tuple[t.Var, ...], SymbolicStore]:
    """Run a step on symbols; return its variables and what it left."""
    store = SymbolicStore(protocol.sizes)
    params = tuple(
        store.fresh(sort, f"{sort.name.lower()}{i}")
        for i, sort in enumerate(step.sorts)
    )
    members: tuple[Any, ...] = tuple(Symbolic(p) for p in params)
    with modelling(step.where):
        with nothing_swallowed():
            bound = step.run(protocol, store, members)
            store.settle_indices()
        refuse_attributes(bound, protocol, step.name)
    return params, store


def _traced(
    protocol: Protocol, step: Step, sized: set[Sort], around: Surroundings
) -> ActionTerm:
    with nothing_from_outside(step.where):
        params, store = _run(protocol, step)
    _, again = _run(protocol, step)
    around.check(step.name, step.where)
    if (store.guard, store.writes) != (again.guard, again.writes):
        message = (
            f"{step.name} does not do the same when it is run again; let it depend on "
            "the state alone, and write an action for each choice"
        )
        raise ModelError(message, where=step.where)
    sized |= store.sized
    sizes = dict(protocol.sizes)
    with modelling(step.where):
        guard = settled(t.conjunction(store.guard), params, sizes)
        writes = [_settled(write, params, sizes) for write in store.writes]
    return ActionTerm(
        name=step.name,
        params=params,
        guard=guard,
        writes=tuple(writes),
        fault=step.fault,
        doc=step.doc,
        where=step.where,
        fair=step.fair,
    )


def _settled(
    write: FieldWrite, params: tuple[t.Var, ...], sizes: dict[Sort, int]
) -> FieldWrite:
    return replace(
        write,
        indices=tuple(settled(index, params, sizes) for index in write.indices),
        value=settled(write.value, (*params, *write.vars), sizes),
    )
