"""The atoms of lemmas: what a protocol's own terms can say of a few members."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from onceproof.model.language.sorts import NO_MEMBER
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.substitution import free_variables, substitute
from onceproof.model.language.terms.types import (
    BoolType,
    EnumType,
    IntType,
    MemberType,
    OptionalType,
    is_integer,
)
from onceproof.properties.judges.by_proof.claims import renamed
from onceproof.properties.judges.by_proof.fragment import open_sorts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onceproof.model.language.fields import Field
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.tracing.system import System

_FEW = 4
_LONG = 16


@dataclass(frozen=True)
class Template:
    """Lemmas of one shape: for all members ``variables``, one of some literals."""

    variables: tuple[t.Var, ...]
    """The members that a lemma speaks of."""
    atoms: tuple[t.Term, ...]
    """The claims about them that a literal affirms or denies."""


def templates(
    system: System, claims: Sequence[t.Term], shapes: Iterable[t.Term], *, wider: bool
) -> list[Template]:
    """Return the templates over the members that fields, actions and claims join.

    ``wider`` ones speak of one more member of one of their sorts.
    """
    found: dict[tuple[t.Var, ...], None] = {}
    for sorts in _joined(system, claims):
        more = [sorts]
        if wider:
            more += [(*sorts, sort) for sort in dict.fromkeys(sorts)]
        for each in more:
            found[variables_of(each)] = None
    listed = list(shapes)
    ordered = sorted(found, key=lambda vs: (len(vs), [v.name for v in vs]))
    return [Template(vs, tuple(_atoms(vs, listed, system))) for vs in ordered]


def variables_of(sorts: Sequence[Sort]) -> tuple[t.Var, ...]:
    """Name a member of each of some sorts, the same way whatever their order."""
    found = []
    for number, sort in enumerate(sorted(sorts, key=lambda s: s.name)):
        name = f"{_letter(sort)}{number}"
        found.append(t.Var(name, MemberType(sort)))
    return tuple(found)


def _letter(sort: Sort) -> str:
    letter = sort.name[:1].lower()
    return letter if letter.isalpha() else "m"


def _joined(system: System, claims: Sequence[t.Term]) -> list[tuple[Sort, ...]]:
    """List the sorts that something of the model is about together."""
    found: dict[tuple[Sort, ...], None] = {(): None}
    for sort in system.sizes:
        found[(sort,)] = None
    for field in system.fields:
        found[_sorted(field.sorts)] = None
    for action in system.actions:
        found[_sorted(tuple(p.type.sort for p in action.params))] = None
    for claim in claims:
        for nest in _nests(claim, ()):
            found[_sorted(nest)] = None
    return [sorts for sorts in found if len(sorts) <= _FEW]


def _sorted(sorts: tuple[Sort, ...]) -> tuple[Sort, ...]:
    return tuple(sorted(sorts, key=lambda s: s.name))


def _nests(term: t.Term, outer: tuple[Sort, ...]) -> Iterator[tuple[Sort, ...]]:
    if isinstance(term, t.ForAll | t.Exists):
        outer = (*outer, *(v.type.sort for v in term.vars))
        yield outer
    for child in t.children(term):
        yield from _nests(child, outer)


def shapes_of(system: System, claims: Iterable[t.Term]) -> list[t.Term]:
    """List what the protocol and its claims say, with free variables for members."""
    found: dict[t.Term, None] = {}
    opened = open_sorts(system)
    for field in system.fields:
        if not _budget(field.path):
            found.update(dict.fromkeys(_of_field(field)))
    found.update(dict.fromkeys(_between(system.fields)))
    terms = [action.guard for action in system.actions]
    terms += [folded(claim) for claim in claims]
    for term in terms:
        for part in _parts(term):
            if len(list(itertools.islice(t.subterms(part), _LONG + 1))) <= _LONG:
                found.update(dict.fromkeys(_sides(part)))
    return [s for s in found if not _beyond_words(s, opened)]


def folded(term: t.Term) -> t.Term:
    """Return a claim that says the same more simply.

    ``if_else(seen, 1, 0) < 1`` says no more than ``not_(seen)``, and a member that
    nothing is said of need not be bound.
    """
    if isinstance(term, t.ForAll | t.Exists):
        body = folded(term.body)
        used = free_variables(body)
        return t.quantified(type(term), tuple(v for v in term.vars if v in used), body)
    inner = tuple(folded(child) for child in t.children(term))
    whole = t.rebuild(term, inner) if inner != t.children(term) else term
    return _without_choice(whole) if isinstance(whole, t.Eq | t.Less) else whole


def _without_choice(whole: t.Eq | t.Less) -> t.Term:
    """Return what comparing a choice with a constant says of the choice's test."""
    sides = (whole.left, whole.right)
    for number, side in enumerate(sides):
        if not isinstance(side, t.Ite):
            continue
        then, orelse = (
            t.rebuild(whole, (*sides[:number], branch, *sides[number + 1 :]))
            for branch in (side.then, side.orelse)
        )
        if isinstance(then, t.Const) and isinstance(orelse, t.Const):
            return t.choice(side.test, then, orelse)
    return whole


def _budget(path: str) -> bool:
    """Return whether a field counts faults: a model has no name for it."""
    return path == "faults" or path.startswith("faults.")


def _beyond_words(term: t.Term, opened: frozenset[Sort]) -> bool:
    """Return whether a term reads budgets, the next state or a number of members."""
    for part in t.subterms(term):
        if isinstance(part, t.Get) and (part.after or _budget(part.field)):
            return True
        if isinstance(part, t.Sum) and any(v.type.sort in opened for v in part.vars):
            return True
    return False


def _of_field(field: Field) -> Iterator[t.Term]:
    at = tuple(t.Var(f"?{n}", MemberType(sort)) for n, sort in enumerate(field.sorts))
    get = t.Get(field.path, at, field.type)
    match field.type:
        case BoolType():
            yield get
        case EnumType():
            for value in field.type.members:
                yield t.Eq(get, t.Const(value, field.type))
        case IntType():
            if field.type.high - field.type.low < _FEW:
                for number in range(field.type.low, field.type.high + 1):
                    yield t.Eq(get, t.integer(number))
        case OptionalType():
            yield t.Eq(get, t.Const(NO_MEMBER, field.type))
            yield t.Eq(get, t.Var("?of", MemberType(field.type.sort)))
        case MemberType():
            yield t.Eq(get, t.Var("?of", field.type))
            if is_integer(field.type):
                yield t.Less(get, t.Var("?of", field.type))


def _between(fields: Sequence[Field]) -> Iterator[t.Term]:
    """Compare integer fields of one type over the same sorts."""
    numbers = [f for f in fields if isinstance(f.type, IntType)]
    for one, other in itertools.combinations(numbers, 2):
        if one.sorts == other.sorts and one.type == other.type:
            at = tuple(t.Var(f"?{n}", MemberType(s)) for n, s in enumerate(one.sorts))
            left, right = (t.Get(f.path, at, f.type) for f in (one, other))
            yield from (t.Eq(left, right), t.Less(left, right), t.Less(right, left))


def _parts(term: t.Term) -> Iterator[t.Term]:
    """Yield the claims without connectives in a term, and each quantified one."""
    match term:
        case t.Not() | t.And() | t.Or():
            for child in t.children(term):
                yield from _parts(child)
        case t.ForAll() | t.Exists():
            yield renamed(term, "'")
            yield from _parts(term.body)
        case t.Ite():
            for child in t.children(term):
                if isinstance(t.sort_of(child), BoolType):
                    yield from _parts(child)
        case t.Eq() | t.Less():
            yield term
        case t.Get():
            if isinstance(term.type, BoolType):
                yield term
        case t.Const() | t.Var() | t.Add() | t.Sub() | t.Sum():
            return
        case _:
            assert_never(term)


def _sides(part: t.Term) -> Iterator[t.Term]:
    """Yield a comparison of numbers in each of its ways, anything else as it is."""
    yield part
    if isinstance(part, t.Eq | t.Less):
        left, right = part.left, part.right
        if all(is_integer(t.sort_of(side)) for side in (left, right)):
            yield from (t.equality(left, right), t.less(left, right))
            yield t.less(right, left)


def _atoms(
    variables: tuple[t.Var, ...], shapes: Sequence[t.Term], system: System
) -> Iterator[t.Term]:
    """Put the template's members in place of the free variables of each shape."""
    found: dict[t.Term, None] = {}
    for one, other in itertools.combinations(variables, 2):
        if one.type == other.type:
            found[t.Eq(one, other)] = None
            if one.type.sort.ordered:
                found[t.Less(one, other)] = None
    for var in variables:
        size = system.sizes[var.type.sort]
        if var.type.sort.ordered and size < _FEW:
            for number in range(size):
                found[t.Eq(var, t.integer(number))] = None
    for shape in shapes:
        free = sorted(free_variables(shape), key=lambda v: v.name)
        choices = [[v for v in variables if v.type.sort is f.type.sort] for f in free]
        for chosen in itertools.product(*choices):
            found[substitute(shape, dict(zip(free, chosen, strict=True)))] = None
    yield from (a for a in found if not isinstance(a, t.Const))
