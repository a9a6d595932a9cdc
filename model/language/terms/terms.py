"""Typed terms: what an action or a property is once it has been traced.

Every reader of a model (native code, z3, pictures) reads these and nothing else.
Terms are immutable and compare by structure. The functions in lower case build
terms and simplify them; readers may rely only on the meaning being preserved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias, assert_never

from onceproof.model.language.terms.types import (
    BOOL,
    BoolType,
    IntType,
    MemberType,
    Type,
    Value,
    merged,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Const:
    """A value that never changes."""

    value: Value
    """The value, as Python has it."""
    type: Type
    """Its type, which an integer alone does not show."""


@dataclass(frozen=True, slots=True)
class Var:
    """A member of a sort: a parameter of an action, or bound by a quantifier."""

    name: str
    """The name; variables of one name and one type are the same variable."""
    type: MemberType
    """The type of the members that it ranges over."""


@dataclass(frozen=True, slots=True)
class Get:
    """The value of a state field at some members; ``after`` reads the next state."""

    field: str
    """The path of the field."""
    indices: tuple[Term, ...]
    """The members that select an element, one for each sort of the field."""
    type: Type
    """The type of the element."""
    after: bool = False


@dataclass(frozen=True, slots=True)
class Not:
    """Negation."""

    body: Term
    """The claim that is denied."""


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction."""

    parts: tuple[Term, ...]
    """The claims that hold together."""


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction."""

    parts: tuple[Term, ...]
    """The claims of which one holds."""


@dataclass(frozen=True, slots=True)
class Eq:
    """Equality of two values of one type."""

    left: Term
    """The first value."""
    right: Term
    """The second value."""


@dataclass(frozen=True, slots=True)
class Less:
    """``left < right`` over integers."""

    left: Term
    """The number that is less."""
    right: Term
    """The number that is greater."""


@dataclass(frozen=True, slots=True)
class Add:
    """``left + right`` over integers."""

    left: Term
    """The first number."""
    right: Term
    """The number that is added."""


@dataclass(frozen=True, slots=True)
class Sub:
    """``left - right`` over integers."""

    left: Term
    """The first number."""
    right: Term
    """The number that is subtracted."""


@dataclass(frozen=True, slots=True)
class Ite:
    """``then`` where ``test`` holds, else ``orelse``."""

    test: Term
    then: Term
    orelse: Term


@dataclass(frozen=True, slots=True)
class ForAll:
    """The body holds for all members that ``vars`` range over."""

    vars: tuple[Var, ...]
    body: Term
    """The claim about the members that are bound."""


@dataclass(frozen=True, slots=True)
class Exists:
    """The body holds for some members that ``vars`` range over."""

    vars: tuple[Var, ...]
    body: Term
    """The claim about the members that are bound."""


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of an integer body over all members that ``vars`` range over."""

    vars: tuple[Var, ...]
    body: Term
    """The number that is summed, of the members that are bound."""


Term: TypeAlias = (
    Const
    | Var
    | Get
    | Not
    | And
    | Or
    | Eq
    | Less
    | Add
    | Sub
    | Ite
    | ForAll
    | Exists
    | Sum
)
Quantifier: TypeAlias = ForAll | Exists | Sum
Quantified = (ForAll, Exists, Sum)

TRUE = Const(value=True, type=BOOL)
FALSE = Const(value=False, type=BOOL)
_INTEGER = IntType(-(2**15), 2**15 - 1)


def integer(value: int) -> Const:
    """Make an integer constant."""
    return Const(value, IntType(value, value))


def sort_of(term: Term) -> Type:
    """Return the type of a term; a computed integer's bounds are left wide."""
    match term:
        case Const() | Var() | Get():
            return term.type
        case Ite():
            return _either(term)
        case Add() | Sub() | Sum():
            return _INTEGER
        case Not() | And() | Or() | Eq() | Less() | ForAll() | Exists():
            return BOOL
        case _:
            assert_never(term)


def _either(term: Ite) -> Type:
    """Return the type of a choice, which holds what both of its sides may be."""
    one = sort_of(term.then)
    if not isinstance(one, MemberType):
        return one
    other = sort_of(term.orelse)
    return merged(one, other) or other


def negation(body: Term) -> Term:
    """Build ``not body``."""
    if isinstance(body, Const):
        return FALSE if body.value else TRUE
    return body.body if isinstance(body, Not) else Not(body)


def conjunction(parts: Iterable[Term]) -> Term:
    """Build the conjunction of ``parts``, in order, each once."""
    flat = _flatten(And, parts, neutral=TRUE)
    if FALSE in flat:
        return FALSE
    return TRUE if not flat else flat[0] if len(flat) == 1 else And(flat)


def disjunction(parts: Iterable[Term]) -> Term:
    """Build the disjunction of ``parts``, in order, each once."""
    flat = _flatten(Or, parts, neutral=FALSE)
    if TRUE in flat:
        return TRUE
    return FALSE if not flat else flat[0] if len(flat) == 1 else Or(flat)


def _flatten(
    kind: type[And | Or], parts: Iterable[Term], *, neutral: Const
) -> tuple[Term, ...]:
    flat: dict[Term, None] = {}
    for part in parts:
        for inner in part.parts if isinstance(part, kind) else (part,):
            if inner != neutral:
                flat[inner] = None
    return tuple(flat)


def equality(left: Term, right: Term) -> Term:
    """Build ``left == right``."""
    if left == right:
        return TRUE
    if isinstance(left, Const) and isinstance(right, Const):
        return TRUE if left.value == right.value else FALSE
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and isinstance(one.type, BoolType):
            return other if one.value else negation(other)
    return Eq(left, right)


def less(left: Term, right: Term) -> Term:
    """Build ``left < right``."""
    if left == right:
        return FALSE
    if isinstance(left, Const) and isinstance(right, Const):
        return TRUE if number_of(left) < number_of(right) else FALSE
    return Less(left, right)


def addition(left: Term, right: Term) -> Term:
    """Build ``left + right``."""
    if isinstance(left, Const) and isinstance(right, Const):
        return integer(number_of(left) + number_of(right))
    if isinstance(right, Const) and number_of(right) == 0:
        return left
    if isinstance(left, Const) and number_of(left) == 0:
        return right
    return Add(left, right)


def subtraction(left: Term, right: Term) -> Term:
    """Build ``left - right``."""
    if isinstance(left, Const) and isinstance(right, Const):
        return integer(number_of(left) - number_of(right))
    if isinstance(right, Const) and number_of(right) == 0:
        return left
    return Sub(left, right)


def choice(test: Term, then: Term, orelse: Term) -> Term:
    """Build ``then if test else orelse``."""
    if isinstance(test, Const):
        return then if test.value else orelse
    if then == orelse:
        return then
    if then == TRUE and orelse == FALSE:
        return test
    if then == FALSE and orelse == TRUE:
        return negation(test)
    return Ite(test, then, orelse)


def number_of(term: Const) -> int:
    """Return the number that a constant is, or of the member that it is."""
    if isinstance(term.value, Enum):
        message = f"{term.value} is not a number"
        raise TypeError(message)
    return int(term.value)


def children(term: Term) -> tuple[Term, ...]:
    """Return the terms directly inside ``term``."""
    match term:
        case Const() | Var():
            return ()
        case Get():
            return term.indices
        case Not() | ForAll() | Exists() | Sum():
            return (term.body,)
        case And() | Or():
            return term.parts
        case Ite():
            return (term.test, term.then, term.orelse)
        case Eq() | Less() | Add() | Sub():
            return (term.left, term.right)
        case _:
            assert_never(term)


def rebuild(term: Term, inner: tuple[Term, ...]) -> Term:
    """Make ``term`` again around other inner terms, simplified."""
    match term:
        case Const() | Var():
            return term
        case Get():
            return replace(term, indices=inner)
        case ForAll() | Exists() | Sum():
            return quantified(type(term), term.vars, inner[0])
        case Not():
            return negation(inner[0])
        case And():
            return conjunction(inner)
        case Or():
            return disjunction(inner)
        case Ite():
            return choice(*inner)
        case Eq():
            return equality(*inner)
        case Less():
            return less(*inner)
        case Add():
            return addition(*inner)
        case Sub():
            return subtraction(*inner)
        case _:
            assert_never(term)


def quantified(kind: type[Quantifier], variables: tuple[Var, ...], body: Term) -> Term:
    """Bind ``variables`` in ``body``; a constant claim needs no quantifier.

    Sorts are never empty, so a constant body is its own quantification.
    """
    if not variables or (kind is not Sum and isinstance(body, Const)):
        return body
    return kind(variables, body)


def subterms(term: Term) -> Iterator[Term]:
    """Yield ``term`` and every term inside it."""
    yield term
    for child in children(term):
        yield from subterms(child)


def conjuncts(term: Term) -> tuple[Term, ...]:
    """Split a claim into the claims that it joins."""
    return term.parts if isinstance(term, And) else (term,)
