"""Steps as formulas over a state and the next, at given sizes or at any."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import z3

from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import MemberType
from onceproof.properties.judges.by_proof.connectives import (
    asserted,
    conjoin,
    disjoin,
    negate,
    same,
)
from onceproof.properties.judges.by_proof.fragment import outside

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from onceproof.model.language.fields import Field
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.judges.by_proof.encode import Elements, Encoder


class StepRelation:
    """Says that a step leads from one state to another, and that two states differ."""

    def __init__(self, encoder: Encoder, fields: Collection[str]) -> None:
        """Use the encoder of a system. What is said is said of ``fields`` alone."""
        self._encoder = encoder
        self._elements = [
            each
            for field in encoder.system.fields
            if field.path in fields
            for each in self._of(field)
        ]

    def outside(self) -> list[str]:
        """List, in sentences, what steps do that no formula for every size says."""
        opened = self._encoder.open_sorts
        found = [
            sentence
            for action in self._encoder.system.actions
            for term in (action.guard, *(action.after(g) for g, _ in self._elements))
            for sentence in outside(term, opened, action.name)
        ]
        return list(dict.fromkeys(found))

    def step(self, now: Elements, after: Elements, tag: str) -> Any:
        """Say that some action or fault leads from one state to the next.

        ``tag`` sets the members that it is for apart from those of other steps.
        """
        encoder = self._encoder
        ways = []
        for action in encoder.system.actions:
            for values in encoder.instances(action):
                mine, rules = dict(values), []
                for param in action.params:
                    member = encoder.opened(param)
                    if member is not None:
                        name = f"{action.name}.{param.name}!{tag}"
                        mine[param] = z3.Const(name, member.sort())
                        rules.append(encoder.is_member(param.type, mine[param]))
                guard = encoder.encode(action.guard, mine, now)
                effects = []
                for get, over in self._elements:
                    value = encoder.encode(action.after(get), {**mine, **over}, now)
                    element = encoder.encode(get, over, after)
                    effects.append(_of_all(over, same(value, element)))
                ways.append(conjoin([*rules, guard, *effects]))
        return disjoin(ways)

    def differ(self, one: Elements, other: Elements) -> Any:
        """Say that two states are not the same."""
        encoder = self._encoder
        found = []
        for get, over in self._elements:
            values = [encoder.encode(get, over, state) for state in (one, other)]
            members = [encoder.is_member(v.type, value) for v, value in over.items()]
            differs = conjoin([*members, negate(same(*values))])
            symbols = list(over.values())
            found.append(z3.Exists(symbols, asserted(differs)) if symbols else differs)
        return disjoin(found)

    def _of(self, field: Field) -> Iterator[tuple[t.Get, dict[t.Var, Any]]]:
        """Yield the elements of a field: one for each member, or one for any."""
        variables = [
            t.Var(f"element {n}", MemberType(sort))
            for n, sort in enumerate(field.sorts)
        ]
        over = {
            var: symbol
            for var in variables
            if (symbol := self._encoder.opened(var)) is not None
        }
        sizes = self._encoder.system.sizes
        choices: list[list[t.Term]] = [
            [var]
            if var in over
            else [t.Const(i, var.type) for i in range(sizes[var.type.sort])]
            for var in variables
        ]
        for at in itertools.product(*choices):
            yield t.Get(field.path, at, field.type), over


def _of_all(over: dict[t.Var, Any], claim: Any) -> Any:
    return z3.ForAll(list(over.values()), asserted(claim)) if over else claim


def fields_in(terms: Iterable[t.Term]) -> frozenset[str]:
    """Return the fields that terms read."""
    parts = itertools.chain.from_iterable(map(t.subterms, terms))
    return frozenset(part.field for part in parts if isinstance(part, t.Get))


def read_by(system: System, claims: Iterable[t.Term]) -> frozenset[str]:
    """Return the fields that claims depend on, after however many steps.

    The others are written and never read: what they hold changes no run.
    """
    found = fields_in([*claims, *(action.guard for action in system.actions)])
    while True:
        writes = [w for action in system.actions for w in action.writes]
        more = found | fields_in(
            term for w in writes if w.field in found for term in (w.value, *w.indices)
        )
        if more == found:
            return found
        found = more
