"""Properties: named claims, each written once and judged by search, z3 and Spark."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, assert_never

from onceproof.model.errors import ModelError
from onceproof.model.language.declarations.decorators import ClaimMark, kebab
from onceproof.model.language.declarations.domains import (
    each_value,
    every,
    parameter_names,
    sorts_among,
    value_in_words,
)
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.expressions.logic import all_of
from onceproof.model.language.sorts import Member, Tuples
from onceproof.model.language.source_location import defined_at, here, modelling
from onceproof.model.language.tracing.identity import refuse_identity_in
from onceproof.model.search.queries import SearchQuery
from onceproof.properties.ledger import Ledger, of_protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.declarations.domains import Ranging
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.tracing.system import System


@dataclass(frozen=True)
class Clause:
    """One claim, and when it must hold."""

    when: Modality
    """A modality, or its text: always, step, at_rest, recoverable, and so on."""
    text: str
    """The claim in words: it completes the sentence "it is claimed that ..."."""
    holds: Callable[..., bool]
    """``holds(view)``; for step ``holds(before, after)``; leads_to returns a pair."""
    where: str = ""
    """The file and line of the claim."""
    premise: Callable[..., bool] | None = None
    """``premise(view)``: if no reachable state satisfies it, the clause is vacuous."""
    idle: str = ""
    """Why a clause is vacuous whose premise is never satisfied."""

    def __post_init__(self) -> None:
        """Take the text of a modality for the modality; refuse any other text."""
        try:
            object.__setattr__(self, "when", Modality(self.when))
        except ValueError:
            message = (
                f"a clause cannot hold {self.when!r}: when= is one of "
                f"{', '.join(Modality)}"
            )
            where = self.where or defined_at(self.holds)
            raise ModelError(message, where=where) from None


@dataclass(frozen=True)
class Property:
    """A named claim: it holds if all of its clauses hold."""

    name: str
    """The name, as in ``effectively-once``."""
    clauses: tuple[Clause, ...]
    """What it claims."""
    needs: tuple[str, ...] = ()
    """What a protocol must observe for the property to be judged."""
    own: bool = False
    """Whether it reads the protocol's own state, and not a ledger."""
    lemma: bool = False
    """Whether it is an invariant that helps to prove others."""
    words: str = ""
    """What the clauses claim together, if there are many similar ones."""

    @property
    def text(self) -> str:
        """What is claimed, in words."""
        return self.words or "; ".join(clause.text for clause in self.clauses)

    def view(self, protocol: Protocol) -> Ledger | Protocol:
        """Return what the clauses read, for a protocol in a state."""
        return protocol if self.own else of_protocol(protocol)

    def questions(self, system: System) -> list[SearchQuery]:
        """Trace each clause into a question about a system."""
        return [
            self._question(system, f"{self.name}#{number}", clause)
            for number, clause in enumerate(self.clauses)
        ]

    def premises(self, system: System) -> list[SearchQuery | None]:
        """Trace what each clause speaks of, to ask whether it is ever met."""
        return [
            None
            if clause.premise is None
            else self._question(
                system,
                f"{self.name}#{number} premise",
                Clause(Modality.SOMETIMES, clause.idle, clause.premise, clause.where),
            )
            for number, clause in enumerate(self.clauses)
        ]

    def _question(self, system: System, name: str, clause: Clause) -> SearchQuery:
        with modelling(clause.where or defined_at(clause.holds)):
            return self._traced(system, name, clause)

    def _traced(self, system: System, name: str, clause: Clause) -> SearchQuery:
        claim, where = self._claim(clause), clause.where or defined_at(clause.holds)
        if clause.when is Modality.LEADS_TO:
            given, then = (
                system.claim(lambda p, i=i: _pair(claim(p))[i], where=where)
                for i in range(2)
            )
            return SearchQuery(name, clause.when, then, given)
        steps = clause.when is Modality.STEP
        term = system.claim(claim, steps=steps, where=where)
        return SearchQuery(name, clause.when, term)

    def _claim(self, clause: Clause) -> Callable[..., object]:
        if isinstance(clause.holds, FunctionType):
            refuse_identity_in(clause.holds.__code__)

        def claim(*protocols: Protocol) -> object:
            return clause.holds(*(self.view(p) for p in protocols))

        return claim


def own_properties(protocol: Protocol) -> list[Property]:
    """List what a protocol claims of its own state, and its parts of theirs."""
    found = []
    claims = (
        (holder.part_sorts, *claim)
        for holder in protocol.all_parts()
        for claim in holder.marked(ClaimMark)
    )
    for lead, name, mark, method in claims:
        _check_signature(name, mark, method)
        per = (*lead, *mark.per)
        clauses = tuple(
            Clause(
                mark.when,
                _sentence(method, members),
                _calling(name, members),
                defined_at(method),
            )
            for members in _members(protocol, per)
        )
        if per and _of_all(mark.when):
            together = _for_all(name, per)
            where = defined_at(method)
            clauses = (Clause(mark.when, _sentence(method, ()), together, where),)
        found.append(
            Property(
                kebab(name),
                clauses,
                own=True,
                lemma=mark.lemma,
                words=_sentence(method, ()),
            )
        )
    return distinct(found)


def distinct(properties: Sequence[Property]) -> list[Property]:
    """Return properties if each has a name of its own, so that no two are mixed up.

    Raises ``ModelError`` with the places of two that share one.
    """
    found: dict[str, Property] = {}
    for prop in properties:
        other = found.setdefault(prop.name, prop)
        if other is not prop:
            where = _place_of(prop)
            message = (
                f"two claims are called {prop.name}: this one, and "
                f"{_place_of(other) or 'the guarantee of that name'}; "
                "each is judged by its name, so choose another for one of them"
            )
            raise ModelError(message, where=where or _place_of(other))
    return list(found.values())


def _place_of(prop: Property) -> str:
    return next((clause.where for clause in prop.clauses if clause.where), "")


def _pair(answer: object) -> tuple[object, object]:
    if not isinstance(answer, tuple) or len(answer) != 2:  # noqa: PLR2004 - a pair
        message = "leads_to returns a pair: what comes first, and what it leads to"
        raise ModelError(message, where=here())
    return answer


def _check_signature(path: str, mark: ClaimMark, method: Callable[..., Any]) -> None:
    names = parameter_names(mark.per)
    if mark.when is Modality.STEP:
        names.append("after")
    try:
        inspect.signature(method).bind(*names)
    except (TypeError, ValueError):
        name = path.rpartition(".")[2]
        message = (
            f"{path} must be declared as def {name}({', '.join(['self', *names])})"
        )
        raise ModelError(message, where=defined_at(method)) from None


def _members(protocol: Protocol, per: tuple[Ranging, ...]) -> list[tuple[Any, ...]]:
    """List the members and values for which a claim is made, each on its own."""

    def members(sort: Sort) -> list[Member]:
        return [Member(i, sort) for i in range(protocol.size_of(sort))]

    return list(every(per, members))


def _of_all(when: Modality) -> bool:
    """Return whether a claim for each member is one claim for all of them.

    It is not where each member may be met, or come about, at a time of its own.
    """
    match when:
        case Modality.ALWAYS | Modality.STEP | Modality.AT_REST:
            return True
        case (
            Modality.RECOVERABLE
            | Modality.SOMETIMES
            | Modality.EVENTUALLY
            | Modality.LEADS_TO
        ):
            return False
        case _:
            assert_never(when)


def _for_all(path: str, per: tuple[Ranging, ...]) -> Callable[..., bool]:
    sorts = sorts_among(per)

    def holds(*states: Protocol) -> bool:
        return all_of(
            *(
                all_of(
                    _calling(path, between(members))(*states)
                    for members in Tuples(sorts, states[0])
                )
                if sorts
                else _calling(path, between(()))(*states)
                for between in each_value(per)
            )
        )

    return holds


def _calling(path: str, members: tuple[Any, ...]) -> Callable[..., bool]:
    *holders, name = path.split(".")

    def holds(*states: Protocol) -> Any:
        (before, own), *later = (state.part_at(holders, members) for state in states)
        return getattr(before, name)(*own, *(after for after, _ in later))

    return holds


def _sentence(method: Callable[..., Any], members: tuple[Any, ...]) -> str:
    text = (inspect.getdoc(method) or "").strip().split("\n")[0].rstrip(".")
    text = text or f"{kebab(method.__name__)} holds"
    which = f" ({', '.join(map(value_in_words, members))})" if members else ""
    return text[:1].lower() + text[1:] + which
