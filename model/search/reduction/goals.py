"""Whether a reduction keeps the answer to a question, and the clauses of its claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.terms import terms as t

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onceproof.model.search.queries import SearchQuery

Clause = tuple[t.Term, ...]


def why_not(questions: Sequence[SearchQuery]) -> str:
    """Return why a reduction would not keep the answers to all questions; else ""."""
    kinds = [q.when for q in questions if not keeps(q.when)]
    if not kinds:
        return ""
    named = ", ".join(sorted({kind.value for kind in kinds}))
    return f"claims of these kinds need every state and step: {named}"


def keeps(when: Modality) -> bool:
    """Return whether a reduction keeps the answer to a claim of a kind."""
    match when:
        case Modality.ALWAYS | Modality.SOMETIMES | Modality.AT_REST:
            return True
        case (
            Modality.STEP
            | Modality.RECOVERABLE
            | Modality.EVENTUALLY
            | Modality.LEADS_TO
        ):
            return False
        case _:
            assert_never(when)


def clauses(claim: t.Term, *, holds: bool = True) -> list[Clause]:
    """Split a claim without quantifiers, or its negation, into clauses.

    The claim holds in a state if and only if each clause has a literal that holds.
    """
    flat = _normal(claim, holds=holds)
    found = [tuple(_literals(part)) for part in t.conjuncts(flat)]
    return [clause for clause in found if t.TRUE not in clause]


def _literals(part: t.Term) -> Iterator[t.Term]:
    yield from part.parts if isinstance(part, t.Or) else (part,)


def _normal(term: t.Term, *, holds: bool) -> t.Term:
    """Push negations inwards through what joins claims."""
    if isinstance(term, t.Not):
        return _normal(term.body, holds=not holds)
    if isinstance(term, t.And | t.Or):
        parts = [_normal(part, holds=holds) for part in term.parts]
        if isinstance(term, t.And) is holds:
            return t.conjunction(parts)
        return t.disjunction(parts)
    return term if holds else t.negation(term)
