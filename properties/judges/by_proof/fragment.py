"""The fragment of models that z3 decides for every size, and what lies outside it.

It is effectively propositional logic: with no cycle among sorts from "for each of
this sort there is one of that sort", only finitely many members matter, and z3's
search for a model ends. See Padon et al., Ivy: Safety Verification by Interactive
Generalization, PLDI 2016.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from onceproof.model.language.declarations.state import State
from onceproof.model.language.sorts import NO_MEMBER, SizeBound, Sort
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.substitution import replace_leaves
from onceproof.model.language.terms.types import MemberType
from onceproof.model.language.tracing.resizing import other, sized_by
from onceproof.model.language.tracing.rest import changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System

    Edges = set[tuple[Sort, Sort]]


def open_sorts(system: System) -> frozenset[Sort]:
    """Return the sorts that may have any number of members: those without order."""
    return frozenset(s for s in system.sizes if not s.ordered)


def fixed_sorts(system: System) -> tuple[Sort, ...]:
    """Return the sorts of which a proof knows one size, though they may have others.

    They are those with order, as far as their size can be chosen, or follows from that
    of a sort that is open. How many kinds of message a network has, say, may be part of
    what the protocol is.
    """
    chosen = {
        what
        for part in system.protocol.all_parts()
        for what in part.parameters().values()
        if isinstance(what, Sort)
    }
    return tuple(
        sort
        for sort in system.sizes
        if sort.ordered and (sort in chosen or _follows(system, sort))
    )


def _follows(system: System, sort: Sort) -> bool:
    """Return whether the size of a sort depends on that of an open one."""
    return any(
        other(system, one, system.sizes[one] + 1).sizes[sort] != system.sizes[sort]
        for one in open_sorts(system)
    )


def before_of(
    system: System, action: ActionTerm, claim: t.Term, *, steps: bool = False
) -> t.Term:
    """Return the claim about the state before ``action`` that ``claim`` holds after it.

    Of a claim about ``steps``, that it holds of this one, or that there is none: an
    action that changes nothing takes no step. Bound variables of the claim must not
    share names with those of the action.
    """

    def before(part: t.Var | t.Get) -> t.Term | None:
        if not isinstance(part, t.Get) or (steps and not part.after):
            return None
        return action.after(replace(part, after=False))

    holds = replace_leaves(claim, before)
    if not steps:
        return holds
    return t.disjunction([t.negation(changes(system, action)), holds])


def fragment(
    system: System,
    terms: Sequence[t.Term],
    *,
    steps: Sequence[t.Term] = (),
    sized: frozenset[Sort] = frozenset(),
) -> list[str]:
    """List, in sentences, what keeps an induction from every size.

    It is over ``terms`` about states and ``steps`` about steps. ``sized`` are sorts
    whose size these use. Their bound variables must not share names with those of
    the actions. No sentence means that z3 decides it.
    """
    opened = open_sorts(system)
    if not opened:
        return ["no sort of the protocol may have any number of members"]
    found = [
        f"the model uses the number of members of {sort.name}"
        for sort in sorted(
            system.sized | sized | sized_by(system) | _bounding(system), key=_name
        )
        if sort in opened
    ]
    found += [
        f"{field.path} starts from a value that depends on the member"
        for field in system.fields
        if opened & field.named_members()
    ]
    formulas = list(_formulas(system, terms, steps))
    for _, term, place in formulas:
        found += outside(term, opened, place)
    edges = _quantified(formulas, opened)
    if loop := _cycle(edges):
        path = ", and for each ".join(f"{a.name} a {b.name}" for a, b in loop)
        found.append(f"the claims ask for each {path}: such quantifiers make a cycle")
    return list(dict.fromkeys(found))


def may_not_end(
    system: System, terms: Sequence[t.Term], steps: Sequence[t.Term]
) -> bool:
    """Return whether z3's search for a model may go on for ever.

    A field that holds a member for each member of a sort is a function, and leads from
    one to another as a quantifier does. What z3 then finds is right all the same.
    """
    opened = open_sorts(system)
    functions: Edges = {
        (sort, field.type.sort)
        for field in system.fields
        if isinstance(field.type, MemberType) and field.type.sort in opened
        for sort in field.sorts
        if sort in opened
    }
    if not functions:
        return False
    edges = _quantified(_formulas(system, terms, steps), opened)
    return bool(_cycle(edges | functions))


def _quantified(
    formulas: Iterable[tuple[bool, t.Term, str]], opened: frozenset[Sort]
) -> Edges:
    """Note which sorts the quantifiers of all formulas lead from, and where to."""
    edges: Edges = set()
    for positive, term, _ in formulas:
        _alternations(term, positive, opened, {}, edges, set())
    return edges


def _name(sort: Sort) -> str:
    return sort.name


def _bounding(system: System) -> set[Sort]:
    """Find the sorts whose sizes bound integer fields."""
    return {
        end.sort if isinstance(end, SizeBound) else end
        for owner in system.protocol.all_parts()
        for declared in owner.declared().values()
        if isinstance(declared, State)
        for end in declared.bounds()
        if isinstance(end, Sort | SizeBound)
    }


def _formulas(
    system: System, terms: Sequence[t.Term], steps: Sequence[t.Term]
) -> Iterator[tuple[bool, t.Term, str]]:
    """Yield all formulas for z3: whether each is asserted or denied, and its place."""
    for term in terms:
        yield True, term, "a claim"
        yield False, term, "a claim"
    for action in system.actions:
        yield True, action.guard, action.name
        for term in terms:
            yield False, before_of(system, action, term), action.name
        for term in steps:
            yield False, before_of(system, action, term, steps=True), action.name


def outside(term: t.Term, opened: frozenset[Sort], place: str) -> Iterator[str]:
    """Yield, in sentences about ``place``, what no formula over any size says."""
    for part in t.subterms(term):
        if isinstance(part, t.Less):
            for side in (part.left, part.right):
                type_ = t.sort_of(side)
                if isinstance(type_, MemberType) and type_.sort in opened:
                    yield f"{place} sorts messages by members of {type_.sort.name}"
        if isinstance(part, t.Sum):
            for var in part.vars:
                if var.type.sort in opened:
                    yield f"{place} counts or adds up over {var.type.sort.name}"
        if (
            isinstance(part, t.Const)
            and isinstance(part.type, MemberType)
            and part.type.sort in opened
            and part.value != NO_MEMBER
        ):
            yield f"{place} names a member of {part.type.sort.name} by number"


def _alternations(
    term: t.Term,
    positive: bool,  # noqa: FBT001 - it flips from call to call
    opened: frozenset[Sort],
    scope: dict[t.Var, frozenset[Sort]],
    edges: Edges,
    seen: set[tuple[int, bool, frozenset[tuple[t.Var, frozenset[Sort]]]]],
) -> None:
    """Note each sort whose members are said to exist for each member of another.

    ``scope`` says for each variable for the members of which sorts it is chosen.
    ``seen`` holds what of the same formula was looked at: its parts are shared, and a
    comparison is looked at under both signs.
    """
    key = (id(term), positive, frozenset(scope.items()))
    if key in seen:
        return
    seen.add(key)

    def inside(parts: Iterable[t.Term], signs: tuple[bool, ...]) -> None:
        for part in parts:
            for sign in signs:
                _alternations(part, sign, opened, scope, edges, seen)

    match term:
        case t.And() | t.Or():
            inside(term.parts, (positive,))
        case t.Not():
            inside((term.body,), (not positive,))
        case t.ForAll() | t.Exists():
            bound = [v for v in term.vars if v.type.sort in opened]
            if isinstance(term, t.ForAll) == positive:
                scope = scope | {v: frozenset({v.type.sort}) for v in bound}
            else:
                inner = (v for v in t.subterms(term) if isinstance(v, t.Var))
                used = [scope[v] for v in inner if v in scope]
                given: frozenset[Sort] = frozenset().union(*used)
                edges |= {(sort, v.type.sort) for sort in given for v in bound}
                scope = scope | dict.fromkeys(bound, given)
            inside((term.body,), (positive,))
        case t.Ite():
            inside((term.test,), (True, False))
            inside((term.then, term.orelse), (positive,))
        case t.Const() | t.Var() | t.Get() | t.Sum():
            inside(t.children(term), (True, False))
        case t.Eq() | t.Less() | t.Add() | t.Sub():
            inside(t.children(term), (True, False))
        case _:
            assert_never(term)


def _cycle(edges: Edges) -> list[tuple[Sort, Sort]]:
    """Find edges that lead from a sort back to it, or none."""

    def onward(path: list[tuple[Sort, Sort]]) -> list[tuple[Sort, Sort]]:
        if path[-1][1] is path[0][0]:
            return path
        for edge in sorted(edges, key=lambda e: (e[0].name, e[1].name)):
            if edge[0] is path[-1][1] and edge not in path:
                found = onward([*path, edge])
                if found:
                    return found
        return []

    for edge in sorted(edges, key=lambda e: (e[0].name, e[1].name)):
        found = onward([edge])
        if found:
            return found
    return []
