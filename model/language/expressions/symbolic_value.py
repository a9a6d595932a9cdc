"""A value of the model while it is traced, and the terms and types of values."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from onceproof.model.errors import ModelError
from onceproof.model.language.active_store import known_somebody
from onceproof.model.language.sorts import NO_SORT, Member
from onceproof.model.language.source_location import (
    asked_by_model,
    here,
    truth_fix,
)
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import (
    BoolType,
    EnumType,
    MemberType,
    OptionalType,
    Type,
    is_integer,
    merged,
    type_of,
)

if TYPE_CHECKING:
    from enum import Enum

    from onceproof.model.language.sorts import Member, Sort


class Symbolic:
    """A value of the model while it is traced: a term, with Python's operators."""

    __slots__ = ("term",)

    def __init__(self, term: t.Term) -> None:
        """Wrap ``term``."""
        self.term = term

    def __bool__(self) -> bool:
        """Refuse to be decided: nothing about a symbolic state is known yet."""
        raise ModelError(truth_fix(), where=here())

    def _refuse(self, *_: object) -> int:
        message = (
            "a value of the model is no Python number or collection while it is "
            "traced; compare it, add to it, or index a state with it"
        )
        raise ModelError(message, where=here())

    __len__ = __index__ = __int__ = __iter__ = __contains__ = _refuse
    __hash__ = _refuse

    def __eq__(self, other: object) -> Symbolic:  # type: ignore[override]
        """Compare two values of one type."""
        left, right = alike(self.term, lift(other))
        return Symbolic(t.equality(left, right))

    def __ne__(self, other: object) -> Symbolic:  # type: ignore[override]
        """Compare two values of one type."""
        return Symbolic(t.negation((self == other).term))

    def __lt__(self, other: object) -> Symbolic:
        """Compare two integers."""
        return Symbolic(t.less(*_integers(self, other, "<")))

    def __gt__(self, other: object) -> Symbolic:
        """Compare two integers."""
        left, right = _integers(self, other, ">")
        return Symbolic(t.less(right, left))

    def __le__(self, other: object) -> Symbolic:
        """Compare two integers."""
        left, right = _integers(self, other, "<=")
        return Symbolic(t.negation(t.less(right, left)))

    def __ge__(self, other: object) -> Symbolic:
        """Compare two integers."""
        return Symbolic(t.negation(t.less(*_integers(self, other, ">="))))

    def __add__(self, other: object) -> Symbolic:
        """Add two integers."""
        return Symbolic(t.addition(*_integers(self, other, "+")))

    def __radd__(self, other: object) -> Symbolic:
        """Add two integers."""
        left, right = _integers(self, other, "+")
        return Symbolic(t.addition(right, left))

    def __sub__(self, other: object) -> Symbolic:
        """Subtract two integers."""
        return Symbolic(t.subtraction(*_integers(self, other, "-")))

    def __rsub__(self, other: object) -> Symbolic:
        """Subtract two integers."""
        left, right = _integers(self, other, "-")
        return Symbolic(t.subtraction(right, left))

    def __and__(self, other: object) -> Symbolic:
        """Join two truth values."""
        return Symbolic(t.conjunction([truth(self), truth(other)]))

    def __or__(self, other: object) -> Symbolic:
        """Join two truth values."""
        return Symbolic(t.disjunction([truth(self), truth(other)]))

    __rand__ = __and__
    __ror__ = __or__

    def __neg__(self) -> Symbolic:
        """Take an integer from zero."""
        return 0 - self

    def _arithmetic(self, *_: object) -> Symbolic:
        message = (
            "numbers can be added, taken away and compared; write `if_else(x < 3, "
            "x + 1, 0)` for a number that wraps round"
        )
        raise ModelError(message, where=here())

    __mul__ = __rmul__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = _arithmetic
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __abs__ = _arithmetic

    def _logic(self, *_: object) -> Symbolic:
        message = "use not_(a) to negate, and a != b for one of two but not both"
        raise ModelError(message, where=here())

    __invert__ = __xor__ = __rxor__ = _logic

    def __repr__(self) -> str:
        """Show the term."""
        return f"<{self.term}>"

    def __str__(self) -> str:
        """Refuse to be text: the value is not known yet."""
        raise ModelError(_NO_TEXT, where=here())

    def __format__(self, how: str) -> str:
        """Refuse to be text: the value is not known yet."""
        raise ModelError(_NO_TEXT, where=here())

    def __getattr__(self, name: str) -> object:
        """Refuse what a plain value may have, and a symbolic one has not."""
        if name.startswith("__"):
            raise AttributeError(name)
        message = (
            f"a value of the model has no attribute {name!r} while it is traced; "
            "compare it, add to it, or index a state with it"
        )
        raise ModelError(message, where=here())

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Refuse to reveal the class of a value: a plain run has others."""
        if asked_by_model(sys._getframe(1)):
            message = (
                "what kind of value this is differs while the model is traced, so "
                "nothing may depend on it (as by `isinstance`); write what holds of "
                "every value of the state's type"
            )
            raise ModelError(message, where=here())
        return Symbolic


_NO_TEXT = (
    "a value of the model has no text while it is traced, so nothing may depend on it; "
    "compare it with ==, and print repr(...) of it if you look for a mistake"
)


def lift(value: object) -> t.Term:
    """Return the term of a symbolic or plain value."""
    if isinstance(value, Symbolic):
        return value.term
    type_ = type_of(value)
    if type_ is None:
        message = f"{value!r} is no value of the language; {instead_of(value)}"
        raise ModelError(message, where=here())
    if isinstance(type_, MemberType):
        return t.Const(int(cast("Member", value)), type_)
    return t.Const(cast("bool | int | Enum", value), type_)


def instead_of(value: object) -> str:
    """Say what to write in the place of what is no value of the language."""
    if value is None:
        return "for no member of a sort, declare nobody_of(SORT) and write nobody"
    if isinstance(value, str):
        return "a text can only be compared as a member of an Enum, as Kind.DATA"
    if isinstance(value, float):
        return "numbers are whole; use an int with bounds"
    if hasattr(value, "_fields"):
        return "compare a message part by part, or by .holds(message) of its channel"
    return "use bool, int, an Enum member or a member of a sort"


def alike(left: t.Term, right: t.Term) -> tuple[t.Term, t.Term]:
    """Check that two terms can be compared or assigned to each other."""
    one, other = t.sort_of(left), t.sort_of(right)
    if not compatible(one, other):
        message = f"cannot compare {one} with {other}; the types differ"
        raise ModelError(message, where=here())
    return of_sort(left, other), of_sort(right, one)


def of_sort(term: t.Term, type_: Type) -> t.Term:
    """Return a term in which ``nobody`` is nobody of the sort of a type."""
    if (
        isinstance(term, t.Const)
        and isinstance(term.type, OptionalType)
        and term.type.sort is NO_SORT
        and isinstance(type_, MemberType)
    ):
        return t.Const(term.value, OptionalType(type_.sort))
    return term


def compatible(one: Type, other: Type) -> bool:
    """Return whether values of two types can be equal."""
    if is_integer(one) and is_integer(other):
        return True
    if merged(one, other) is not None:
        return True
    if isinstance(one, EnumType | MemberType | BoolType):
        return one == other
    return False


def _integers(left: object, right: object, sign: str) -> tuple[t.Term, t.Term]:
    terms = (lift(left), lift(right))
    for term in terms:
        if not is_integer(t.sort_of(term)) and not _is_somebody(term):
            message = f"`{sign}` needs integers, not {t.sort_of(term)}{_instead(term)}"
            raise ModelError(message, where=here())
    return terms


def _is_somebody(term: t.Term) -> bool:
    """Return whether a term is a member of an ordered sort wherever its guard holds."""
    type_ = t.sort_of(term)
    ordered = isinstance(type_, MemberType) and type_.sort.ordered
    return ordered and known_somebody(Symbolic(term))


def _instead(term: t.Term) -> str:
    """Say what to do with a value that may be nobody, or has no order."""
    type_ = t.sort_of(term)
    if not isinstance(type_, MemberType) or type_.sort is NO_SORT:
        return ""
    name = type_.sort.name
    if not type_.sort.ordered:
        return f"; declare {name} with ordered=True, or compare by == and !="
    return (
        "; in an action, write when(... != nobody) before it; in a claim, go through "
        f"the members, as in any_of(all_of(... == m, m < 2) for m in self.{name})"
    )


def truth(value: object) -> t.Term:
    """Return the term of a truth value; refuse what is none."""
    term = lift(value)
    if not isinstance(t.sort_of(term), BoolType):
        message = f"a truth value is needed here, not {t.sort_of(term)}"
        raise ModelError(message, where=here())
    return term


def whole(value: object) -> t.Term:
    """Return the term of a whole number; refuse what is none."""
    term = lift(value)
    if not is_integer(t.sort_of(term)):
        message = f"a whole number is needed here, not {t.sort_of(term)}"
        raise ModelError(message, where=here())
    return term


def plain_truth(value: object) -> bool:
    """Return a plain truth value; refuse what is none, as when a model is traced."""
    if not isinstance(value, bool):
        truth(value)
    return cast("bool", value)


def plain_number(value: object) -> int:
    """Return a plain whole number; refuse what is none, as when a model is traced."""
    whole(value)
    return int(cast("int", value))


def symbolic(values: list[object]) -> bool:
    """Return whether any of some values is symbolic."""
    return any(isinstance(v, Symbolic) for v in values)


def process_sort(process: object) -> Sort:
    """Return the sort of a member, whichever world it is from."""
    type_ = t.sort_of(lift(process))
    if not isinstance(type_, MemberType):
        message = f"a member of a sort is needed here, not {type_}"
        raise ModelError(message, where=here())
    return type_.sort
