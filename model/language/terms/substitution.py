"""Terms put in place of others, with the variables that quantifiers bind kept apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.model.language.sorts import NO_MEMBER
from onceproof.model.language.terms.terms import (
    Const,
    Exists,
    ForAll,
    Get,
    Quantified,
    Sum,
    Term,
    Var,
    children,
    rebuild,
    subterms,
)
from onceproof.model.language.terms.types import MemberType

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.language.sorts import Sort


def replace_leaves(term: Term, answer: Callable[[Var | Get], Term | None]) -> Term:
    """Put terms in place of variables and state elements, all at once.

    A replacement is used as it is: its own leaves are not replaced again. ``answer``
    receives a state element with its indices already replaced, and returns None for a
    leaf that stays.
    """
    if isinstance(term, Var):
        found = answer(term)
        return term if found is None else found
    inner = tuple(replace_leaves(child, answer) for child in children(term))
    if isinstance(term, Get):
        get = replace(term, indices=inner)
        found = answer(get)
        return get if found is None else found
    return rebuild(term, inner) if inner != children(term) else term


def substitute(term: Term, values: dict[Var, Term]) -> Term:
    """Put terms in place of variables, all at once.

    Bound variables have names of their own, so that none of ``term`` catches a
    variable of ``values``. Raises ``ValueError`` where one would.
    """
    if not values:
        return term
    arriving = frozenset().union(*map(free_variables, values.values())) | set(values)
    for part in subterms(term):
        if isinstance(part, ForAll | Exists | Sum) and arriving & set(part.vars):
            caught = ", ".join(sorted(v.name for v in arriving & set(part.vars)))
            message = f"{caught} is bound here, and means something else outside"
            raise ValueError(message)
    return replace_leaves(
        term, lambda leaf: values.get(leaf) if isinstance(leaf, Var) else None
    )


def free_variables(term: Term) -> frozenset[Var]:
    """Return the variables of ``term`` that no quantifier in it binds."""
    if isinstance(term, Var):
        return frozenset((term,))
    inner: frozenset[Var] = frozenset().union(*map(free_variables, children(term)))
    if isinstance(term, ForAll | Exists | Sum):
        return inner - set(term.vars)
    return inner


def rename_apart(term: Term, bound: frozenset[Var] = frozenset()) -> Term:
    """Rename variables so that no quantifier binds one that is bound around it.

    Substitution can put a quantifier inside itself.
    """
    if isinstance(term, Quantified):
        names = {v: v for v in term.vars}
        for var in term.vars:
            while names[var] in bound:
                names[var] = replace(var, name=f"{names[var].name}'")
        new = tuple(names.values())
        body = term.body
        if new != term.vars:
            body = substitute(body, {v: n for v, n in names.items() if v != n})
        return type(term)(new, rename_apart(body, bound.union(new)))
    inner = tuple(rename_apart(child, bound) for child in children(term))
    return rebuild(term, inner) if inner != children(term) else term


def named_sorts(term: Term) -> frozenset[Sort]:
    """Return the sorts whose members appear in ``term`` as constants."""
    return frozenset(
        part.type.sort
        for part in subterms(term)
        if isinstance(part, Const)
        and isinstance(part.type, MemberType)
        and part.value != NO_MEMBER
    )
