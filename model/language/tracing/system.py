"""A system: a protocol at given sizes, whose methods are terms."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language.declarations.decorators import ClaimMark, ObserveMark
from onceproof.model.language.declarations.domains import each_value, sorts_among
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.expressions.symbolic_value import Symbolic, lift
from onceproof.model.language.source_location import defined_at, here, modelling
from onceproof.model.language.steps import Event
from onceproof.model.language.stores.outside_values import nothing_from_outside
from onceproof.model.language.stores.swallowed_errors import nothing_swallowed
from onceproof.model.language.stores.symbolic_store import (
    SymbolicStore,
)
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.ranges import widest
from onceproof.model.language.terms.substitution import (
    free_variables,
    named_sorts,
    rename_apart,
)
from onceproof.model.language.terms.types import MOST, TOO_LARGE, BoolType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onceproof.model.language.composition.part import Part
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.declarations.domains import Ranging
    from onceproof.model.language.fields import Field
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.comparison import Samples


@dataclass(frozen=True, eq=False)
class System:
    """A protocol at given sizes, as terms: all that its readers need."""

    protocol: Protocol
    """The protocol that was traced."""
    fields: tuple[Field, ...]
    """Its fields, with those of its parts and the budgets of its faults."""
    actions: tuple[ActionTerm, ...]
    """Its actions and faults."""
    sizes: dict[Sort, int]
    """The size of each sort."""
    sized: frozenset[Sort]
    """The sorts whose size the terms depend on: a proof is for that size only."""

    @property
    def name(self) -> str:
        """The protocol's name on the command line."""
        return self.protocol.label()

    def field(self, path: str) -> Field:
        """Return the field of that path."""
        return next(f for f in self.fields if f.path == path)

    def events(self) -> list[Event]:
        """List the events, as native code numbers them: by action, then by members."""
        return [
            Event(action.name, members, action.fault, action.fair)
            for action in self.actions
            for members in itertools.product(
                *(range(self.sizes[param.type.sort]) for param in action.params)
            )
        ]

    def claim(
        self, predicate: Callable[..., object], *, steps: bool = False, where: str = ""
    ) -> t.Term:
        """Trace ``predicate(protocol)``, or of a step ``predicate(before, after)``.

        ``where`` says where the model claims it, for errors that are found later.
        Raises ``ModelError`` for what is no claim, and where the term and the predicate
        in plain Python differ.
        """
        stores = [SymbolicStore(self.sizes, frozen=True)]
        if steps:
            stores.append(SymbolicStore(self.sizes, after=True, frozen=True))
        with nothing_from_outside(where), nothing_swallowed():
            found = predicate(*(self.protocol.bound(store) for store in stores))
        if found is None:
            message = "a claim returns a truth value; this one has no `return`"
            raise ModelError(message, where=here())
        term = lift(found)
        if not isinstance(t.sort_of(term), BoolType):
            message = f"a claim returns a truth value, not {t.sort_of(term)}"
            raise ModelError(message, where=here())
        term = settled(term, (), self.sizes)
        self.samples.claim(predicate, term, steps=steps, where=where)
        return term

    @functools.cached_property
    def named(self) -> frozenset[Sort]:
        """The sorts with a member that is named: its members are not interchangeable.

        It counts wherever it is named, in steps, observations and claims alike.
        """
        terms = [term for action in self.actions for term in action.terms]
        for holder in self.protocol.all_parts():
            for path, per, step, method in _asked(holder):
                with modelling(defined_at(method)):
                    terms += self._answers(path, (*holder.part_sorts, *per), step=step)
        return frozenset().union(*map(named_sorts, terms))

    def _answers(
        self, path: str, per: tuple[Ranging, ...], *, step: bool
    ) -> list[t.Term]:
        """Trace what a claim or an observation returns for any members."""
        *holders, name = path.split(".")
        store = SymbolicStore(self.sizes, frozen=True)
        after = SymbolicStore(self.sizes, after=True, frozen=True)
        variables = [Symbolic(store.fresh(sort)) for sort in sorts_among(per)]
        terms: list[t.Term] = []
        for between in each_value(per):
            members = between(variables)
            before, own = self.protocol.bound(store).part_at(holders, members)
            if step:
                own = (*own, self.protocol.bound(after).part_at(holders, members)[0])
            found = getattr(before, name)(*own)
            terms += map(lift, found if isinstance(found, tuple) else (found,))
        return terms

    @property
    def samples(self) -> Samples:
        """The states in which terms are compared with plain Python."""
        found: Samples = self.protocol.__dict__["_samples"]
        return found


def _asked(
    holder: Part,
) -> Iterator[tuple[str, tuple[Ranging, ...], bool, Callable[..., Any]]]:
    """Yield the claims and observations of a part: name, for whom, and if of a step."""
    for path, claim, method in holder.marked(ClaimMark):
        yield path, claim.per, claim.when is Modality.STEP, method
    for path, observed, method in holder.marked(ObserveMark):
        yield path, observed.per, False, method


def settled(term: t.Term, params: tuple[t.Var, ...], sizes: dict[Sort, int]) -> t.Term:
    """Return a traced term, with names of its own for what it binds.

    Raises ``ModelError`` where it refers to members that nothing binds, or to numbers
    that not every reader can hold.
    """
    loose = free_variables(term).difference(params)
    if loose:
        names = ", ".join(sorted({var.type.sort.name for var in loose}))
        message = (
            f"a member of {names} is used outside of the quantifier that goes through "
            "them; keep all that depends on a member inside its generator"
        )
        raise ModelError(message, where=here())
    most = widest(term, sizes)
    if most > MOST:
        message = f"a number may reach {most} here, or -{most}; {TOO_LARGE}"
        raise ModelError(message, where=here())
    return rename_apart(term)
