"""The queries that z3 answers: clauses as terms, with answers checked in Python."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.terms import terms as t
from onceproof.model.language.tracing.resizing import claim_sized_by
from onceproof.model.language.tracing.rest import rests
from onceproof.model.language.tracing.system import System

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.sorts import Sort
    from onceproof.model.search.queries import SearchQuery
    from onceproof.properties.property import Property


@dataclass(frozen=True)
class ProofQuery:
    """One clause of a property, as a query to z3."""

    claim: Property
    """The property."""
    number: int
    """The number of the clause."""
    question: SearchQuery
    """The clause as a term."""
    sized: frozenset[Sort]
    """The sorts whose size it uses."""
    free_elsewhere: bool = False
    """Whether it claims nothing of a state that is not at rest."""

    @property
    def when(self) -> Modality:
        """Of which states, or steps, the clause speaks."""
        return self.question.when

    @property
    def text(self) -> str:
        """The clause in words."""
        return self.claim.clauses[self.number].text

    def holds(self, interpreter: Interpreter, *states: State) -> bool:
        """Work the clause out in plain Python, of a state or of two."""
        if self.free_elsewhere and not interpreter.resting(states[-1]):
            return True
        clause = self.claim.clauses[self.number]
        views = [self.claim.view(interpreter.look(state)) for state in states]
        return bool(clause.holds(*views))


@dataclass(frozen=True, eq=False)
class _Watching(System):
    """A system that notes whose sizes the claims about it use."""

    def claim(
        self, predicate: Callable[..., object], *, steps: bool = False, where: str = ""
    ) -> t.Term:
        """Trace the predicate, and note the sizes in ``sized``."""
        used: set[Sort] = set()

        def watched(*protocols: Protocol) -> object:
            answer = predicate(*protocols)
            for protocol in protocols:
                used.update(getattr(protocol.store, "sized", ()))
            return answer

        term = super().claim(watched, steps=steps, where=where)
        used |= claim_sized_by(self, term, predicate, steps=steps)
        object.__setattr__(self, "sized", self.sized | used)
        return term


def ask(prop: Property, system: System) -> list[ProofQuery]:
    """Trace each clause of a property into a question about a system."""
    watching = _Watching(
        system.protocol, system.fields, system.actions, system.sizes, frozenset()
    )
    questions = prop.questions(watching)
    return [
        ProofQuery(prop, number, question, watching.sized)
        for number, question in enumerate(questions)
    ]


def claimed_always(query: ProofQuery, system: System) -> ProofQuery:
    """Turn a claim about rest into one of every state: it holds, or something moves."""
    if query.when is not Modality.AT_REST:
        return query
    rest = renamed(rests(system), "#")
    term = t.disjunction([t.negation(rest), query.question.term])
    question = replace(query.question, when=Modality.ALWAYS, term=term)
    return replace(query, question=question, free_elsewhere=True)


def renamed(term: t.Term, suffix: str) -> t.Term:
    """Return every bound variable of ``term`` a name of its own, ending in ``suffix``.

    A claim and an action are traced apart, so that their variables may share names.
    """
    return _renamed(term, suffix, {})


def _renamed(term: t.Term, suffix: str, names: dict[t.Var, t.Var]) -> t.Term:
    if isinstance(term, t.Var):
        return names.get(term, term)
    if isinstance(term, t.ForAll | t.Exists | t.Sum):
        new = tuple(replace(v, name=v.name + suffix) for v in term.vars)
        inner = names | dict(zip(term.vars, new, strict=True))
        return type(term)(new, _renamed(term.body, suffix, inner))
    return t.rebuild(
        term, tuple(_renamed(child, suffix, names) for child in t.children(term))
    )
