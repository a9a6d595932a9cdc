"""Lemmas as text in the language of the model, which is read back to be proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

from onceproof.model import language
from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.sorts import NO_MEMBER, Sort
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import EnumType, MemberType
from onceproof.properties.property import Clause, Property

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from enum import Enum

    from onceproof.model.language.composition.part import Part
    from onceproof.model.language.tracing.system import System

    Call = tuple[str, tuple["Text", ...], tuple[str, ...]]

Text: TypeAlias = "str | Call"
"""A piece of a lemma: text as it is, or a function, its arguments and loops."""

_WIDTH = 84
_WORDS = ("all_of", "any_of", "not_", "implies", "if_else", "total", "nobody")


class UnspeakableError(Exception):
    """A term for which the language has no words here."""


@dataclass(frozen=True)
class LemmaText:
    """A lemma as a modeller writes it."""

    name: str
    """The name of its method."""
    body: str
    """The value that it returns."""
    method: str
    """The whole method, with its decorator."""


class LemmaWriter:
    """Writes terms of one system as its model would."""

    def __init__(self, system: System) -> None:
        """Find out what the model calls its fields and sorts."""
        self._fields = {f.path: f for f in system.fields}
        self._sorts = dict(_named_sorts(system.protocol))
        self._enums: dict[str, type[Enum]] = {}
        self._names: dict[t.Var, str] = {}

    def lemma(self, name: str, term: t.Term) -> LemmaText:
        """Return a lemma as text. Raises ``UnspeakableError`` if there are no words."""
        self._names = {}
        text = self._said(term)
        body = _laid_out(text, 8, len("return "))
        lines = [
            "@lemma",
            f"def {name}(self) -> bool:",
            '    """An inferred lemma."""',
            f"    return {_laid_out(text, 4, len('return '))}",
        ]
        return LemmaText(name, body, "\n".join(lines))

    def property(self, text: LemmaText) -> Property:
        """Read a lemma back as a property of the protocol, to be proved."""
        words = {name: getattr(language, name) for name in _WORDS}
        code = compile(f"lambda self: {text.body}", f"<{text.name}>", "eval")
        holds: Callable[..., bool] = eval(code, {**words, **self._enums})  # noqa: S307 - the text was made here
        claim = "an inferred lemma"
        clause = Clause(Modality.ALWAYS, claim, holds, f"the lemma {text.name}")
        name = text.name.replace("_", "-")
        return Property(name, (clause,), own=True, lemma=True, words=claim)

    def _said(self, term: t.Term) -> Text:
        match term:
            case t.Const():
                return self._const(term)
            case t.Var():
                return self._name(term)
            case t.Get():
                return self._get(term)
            case t.Not():
                return self._not(term.body)
            case t.And():
                return "all_of", tuple(map(self._said, term.parts)), ()
            case t.Or():
                return self._or(term)
            case t.Eq():
                return self._compared(term.left, "==", term.right)
            case t.Less():
                return self._compared(term.left, "<", term.right)
            case t.Add():
                return f"({self._flat(term.left)} + {self._flat(term.right)})"
            case t.Sub():
                return f"({self._flat(term.left)} - {self._flat(term.right)})"
            case t.Ite():
                return "if_else", tuple(map(self._said, t.children(term))), ()
            case t.ForAll():
                return self._quantified("all_of", term)
            case t.Exists():
                return self._quantified("any_of", term)
            case t.Sum():
                return self._quantified("total", term)
            case _:
                assert_never(term)

    def _flat(self, term: t.Term) -> str:
        return _one_line(self._said(term))

    def _not(self, body: t.Term) -> Text:
        if isinstance(body, t.Eq):
            return self._compared(body.left, "!=", body.right)
        if isinstance(body, t.Less):
            return self._compared(body.right, "<=", body.left)
        return "not_", (self._said(body),), ()

    def _compared(self, left: t.Term, sign: str, right: t.Term) -> str:
        return f"{self._flat(left)} {sign} {self._flat(right)}"

    def _or(self, term: t.Or) -> Text:
        """Write a clause as an implication, if it denies anything."""
        given = [p.body for p in term.parts if isinstance(p, t.Not)]
        then: list[t.Term] = [p for p in term.parts if not isinstance(p, t.Not)]
        if not given:
            return "any_of", tuple(map(self._said, then)), ()
        if not then:
            then.append(t.negation(given.pop()))
        premise, claim = (
            self._joined("all_of", given),
            self._joined("any_of", then),
        )
        return "implies", (premise, claim), ()

    def _joined(self, word: str, parts: Sequence[t.Term]) -> Text:
        text = tuple(map(self._said, parts))
        return text[0] if len(text) == 1 else (word, text, ())

    def _quantified(self, word: str, term: t.Quantifier) -> Text:
        loops = tuple(
            f"for {self._name(v)} in {self._sort(v.type.sort)}" for v in term.vars
        )
        return word, (self._said(term.body),), loops

    def _const(self, term: t.Const) -> str:
        if isinstance(term.type, EnumType):
            kind = term.type.enum
            if self._enums.setdefault(kind.__name__, kind) is not kind:
                raise UnspeakableError
            return f"{kind.__name__}.{term.value.name}"  # type: ignore[union-attr]
        if isinstance(term.type, MemberType):
            if term.value == NO_MEMBER:
                return "nobody"
            if not term.type.sort.ordered:
                raise UnspeakableError
            return str(int(term.value))  # type: ignore[arg-type]
        return str(term.value)

    def _name(self, var: t.Var) -> str:
        known = self._names.get(var)
        if known is None:
            letter = var.type.sort.name[:1].lower()
            letter = letter if letter.isascii() and letter.isalpha() else "m"
            taken = set(self._names.values())
            names = (f"{letter}{n or ''}" for n in range(len(taken) + 1))
            known = self._names[var] = next(n for n in names if n not in taken)
        return known

    def _sort(self, sort: Sort) -> str:
        if sort not in self._sorts:
            raise UnspeakableError
        return self._sorts[sort]

    def _get(self, term: t.Get) -> str:
        field = self._fields[term.field]
        at = [self._flat(index) for index in term.indices]
        *owners, name = term.field.split(".")
        head = "".join(f".{owner}" for owner in owners)
        if (field.for_part and len(owners) != 1) or field.record:
            raise UnspeakableError
        if not name.isidentifier():
            raise UnspeakableError
        lead, own = at[: field.for_part], at[field.for_part :]
        return f"self{head}{_index(lead)}.{name}{_index(own)}"


def _index(at: Sequence[str]) -> str:
    return f"[{', '.join(at)}]" if at else ""


def _named_sorts(part: Part, path: str = "self") -> Iterator[tuple[Sort, str]]:
    """Yield the sorts of a protocol and its parts, the innermost first."""
    for name, what in vars(type(part)).items():
        if isinstance(what, Slot) and not what.sorts:
            yield from _named_sorts(part.parts[name], f"{path}.{name}")
    for kind in reversed(type(part).__mro__):
        for name, what in vars(kind).items():
            if isinstance(what, Sort):
                yield what, f"{path}.{name}"


def _one_line(text: Text) -> str:
    if isinstance(text, str):
        return text
    word, arguments, loops = text
    inner = ", ".join(map(_one_line, arguments))
    return f"{word}({' '.join([inner, *loops])})"


def _laid_out(text: Text, indent: int, used: int = 0) -> str:
    """Write a piece on one line if it fits, else an argument on each line."""
    flat = _one_line(text)
    if isinstance(text, str) or indent + used + len(flat) <= _WIDTH:
        return flat
    word, arguments, loops = text
    pad = " " * (indent + 4)
    comma = "" if loops else ","
    lines = [f"{pad}{_laid_out(a, indent + 4)}{comma}" for a in arguments]
    lines += [f"{pad}{loop}" for loop in loops]
    return "\n".join([f"{word}(", *lines, f"{' ' * indent})"])
