"""Terms as a reader of a model writes them, with their members filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from onceproof.model.language.sorts import Nobody
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import MemberType, spelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LOOSE, _SUM, _COMPARED, _NOT, _AND, _OR = range(6)


def text_of(term: t.Term, known: Mapping[t.Var, int]) -> str:
    """Write a term, such as ``commits == 1``; ``known`` are the members of variables.

    Values of enumerations are written as reports show them, without quotes.
    """
    return _Writer(known, tuple(dict.fromkeys(_bound(term)))).at(term, _OR)


def _bound(term: t.Term) -> Iterator[t.Var]:
    """Yield the variables that quantifiers of a term bind."""
    if isinstance(term, t.Quantified):
        yield from term.vars
    for inner in t.children(term):
        yield from _bound(inner)


class _Writer:
    def __init__(self, known: Mapping[t.Var, int], bound: tuple[t.Var, ...]) -> None:
        short = [var.name.partition("$")[0] for var in bound]
        unique = {
            var: name if short.count(name) == 1 else var.name.replace("$", "")
            for var, name in zip(bound, short, strict=True)
        }
        self._names = {**unique, **{var: str(int(at)) for var, at in known.items()}}

    def at(self, term: t.Term, most: int) -> str:
        """Write a term, in brackets where it binds less than what is around it."""
        text, level = self._of(term)
        return f"({text})" if level > most else text

    def _of(self, term: t.Term) -> tuple[str, int]:
        match term:
            case t.Const():
                return self._constant(term), _LOOSE
            case t.Var():
                return self._names.get(term, term.name), _LOOSE
            case t.Get():
                inner = ", ".join(self.at(i, _SUM) for i in term.indices)
                text = f"{term.field}[{inner}]" if inner else term.field
                return (f"{text} after" if term.after else text), _LOOSE
            case t.Not(body=t.Eq(left=left, right=right)):
                return self._joined(" != ", (left, right), _COMPARED, _SUM)
            case t.Not(body=t.Less(left=left, right=right)):
                return self._joined(" >= ", (left, right), _COMPARED, _SUM)
            case t.Not():
                return f"not {self.at(term.body, _COMPARED)}", _NOT
            case t.And():
                return self._joined(" and ", term.parts, _AND, _NOT)
            case t.Or():
                return self._joined(" or ", term.parts, _OR, _AND)
            case t.Eq():
                return self._joined(" == ", (term.left, term.right), _COMPARED, _SUM)
            case t.Less():
                return self._joined(" < ", (term.left, term.right), _COMPARED, _SUM)
            case t.Add():
                return self._joined(" + ", (term.left, term.right), _SUM, _LOOSE)
            case t.Sub():
                return self._joined(" - ", (term.left, term.right), _SUM, _LOOSE)
            case t.Ite():
                test, then, orelse = (self.at(x, _SUM) for x in t.children(term))
                return f"if_else({test}, {then}, {orelse})", _LOOSE
            case t.ForAll():
                return self._quantified("all_of", term), _LOOSE
            case t.Exists():
                return self._quantified("any_of", term), _LOOSE
            case t.Sum():
                return self._quantified("total", term), _LOOSE
            case _:
                assert_never(term)

    @staticmethod
    def _constant(term: t.Const) -> str:
        if isinstance(term.value, Nobody):
            return str(term.value)
        if isinstance(term.type, MemberType):
            return str(int(term.value))  # type: ignore[arg-type]
        return str(spelled(term.value))

    def _joined(
        self, sign: str, parts: tuple[t.Term, ...], level: int, inner: int
    ) -> tuple[str, int]:
        return sign.join(self.at(part, inner) for part in parts), level

    def _quantified(self, name: str, term: t.Quantifier) -> str:
        each = ", ".join(f"{self._names[v]} in {v.type.sort.name}" for v in term.vars)
        return f"{name}({self.at(term.body, _OR)} for {each})"
