"""An induction as SMT-LIB text, for any solver.

It shares no code with the encoding for z3, and puts the question in another way: over
a state and the next, with integers and not with bit-vectors, and with all claims and
lemmas as one invariant. So an error in the other encoding does not come back here.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeAlias, assert_never, cast

from onceproof.model.language.fields import OneOf
from onceproof.model.language.sorts import NO_MEMBER, AnyMember, Member, Nobody
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import (
    BoolType,
    EnumType,
    IntType,
    MemberType,
    OptionalType,
    Type,
    Value,
    encode,
    lowest,
)
from onceproof.properties.judges.by_proof.relation import fields_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onceproof.model.language.fields import Field
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System

Bound: TypeAlias = "dict[t.Var, int | str]"
"""What variables are: a number of a closed sort, or a symbol of an open one."""


class InductionText:
    """The scripts that a solver must refuse, all of them, for claims to be proved."""

    def __init__(
        self,
        system: System,
        invariants: Sequence[t.Term],
        steps: Sequence[t.Term],
        opened: frozenset[Sort],
    ) -> None:
        """Take claims of states, which are assumed before a step, and of steps."""
        self._system = system
        self._invariants = list(invariants)
        self._steps = list(steps)
        # Of a claim about steps it matters whether anything changes at all.
        read = fields_in(invariants)
        self._changing = [f for f in system.fields if steps or f.path in read]
        self._fields = {f.path: (n, f) for n, f in enumerate(system.fields)}
        ordered = sorted(opened, key=lambda s: s.name)
        self._open = {sort: f"S{n}" for n, sort in enumerate(ordered)}
        self._enums: dict[EnumType, int] = {}
        self._fresh = itertools.count()

    def scripts(self) -> Iterator[tuple[str, str]]:
        """Yield each script with what it is about: the start, or an action."""
        wrong = self._not_all(self._invariants, "now", "now")
        yield "the start", self._script([*self._starts("now"), wrong])
        before = [self._read(c, {}, "now", "now") for c in self._invariants]
        typed = list(self._typed("now"))
        for action in self._system.actions:
            params, step = self._step(action, "now", "next", self._changing)
            body = [*typed, *before, step, self._wrong("now", "next")]
            yield action.name, self._script(body, params)

    def _wrong(self, now: str, after: str) -> str:
        """Say that a step leads to where a claim is broken, or breaks one itself."""
        broken = [self._not_all(self._invariants, after, after)]
        if self._steps:
            every = [field for _, field in self._fields.values()]
            moved = self._moved(now, after, every)
            wrong = self._not_all(self._steps, now, after)
            broken.append(self._join("and", [moved, wrong]))
        return self._join("or", broken)

    def _script(
        self,
        asserted: Iterable[str],
        params: Sequence[tuple[str, str]] = (),
        tags: Sequence[str] = ("now", "next"),
    ) -> str:
        lines = ["(set-logic ALL)"]
        body = [f"(assert {claim})" for claim in asserted]
        for enum, number in self._enums.items():
            values = " ".join(f"(e{number}_{i})" for i in range(len(enum.members)))
            lines.append(f"(declare-datatypes ((E{number} 0)) (({values})))")
        for symbol in self._open.values():
            lines.append(f"(declare-sort {symbol} 0)")
            lines.append(f"(declare-const nobody_{symbol} {symbol})")
            lines.append(f"(declare-const some_{symbol} {symbol})")
        for tag in tags:
            for number, field in self._fields.values():
                domain = " ".join(self._open[s] for s in field.sorts if s in self._open)
                kind = self._kind(field.type)
                for place in self._places(field):
                    name = self._symbol(number, place, tag)
                    lines.append(f"(declare-fun {name} ({domain}) {kind})")
        lines += [f"(declare-const {name} {kind})" for name, kind in params]
        some = [f"(assert (distinct some_{s} nobody_{s}))" for s in self._open.values()]
        return "\n".join([*lines, *some, *body, "(check-sat)"])

    def _step(
        self,
        action: ActionTerm,
        now: str,
        after: str,
        changing: Sequence[Field],
        lead: str = "",
    ) -> tuple[list[tuple[str, str]], str]:
        """Say that the action leads from one state to the next."""
        params: list[tuple[str, str]] = []
        members: list[str] = []
        choices: list[Sequence[int | str]] = []
        for number, param in enumerate(action.params):
            kind = self._open.get(param.type.sort)
            if kind is None:
                choices.append(range(self._system.sizes[param.type.sort]))
                continue
            params.append((f"{lead}p{number}", kind))
            members.append(f"(distinct {lead}p{number} nobody_{kind})")
            choices.append([f"{lead}p{number}"])
        ways = []
        for chosen in itertools.product(*choices):
            known = dict(zip(action.params, chosen, strict=True))
            guard = self._read(action.guard, known, now, now)
            effects = self._effects(action, known, now, after, changing)
            ways.append(self._join("and", [guard, *effects]))
        return params, self._join("and", [*members, self._join("or", ways)])

    def _effects(
        self,
        action: ActionTerm,
        known: Bound,
        now: str,
        then: str,
        changing: Sequence[Field],
    ) -> Iterator[str]:
        for field in changing:
            number, _ = self._fields[field.path]
            for place in self._places(field):
                variables, at, indices = self._element(field, place)
                get = t.Get(field.path, indices, field.type)
                value = self._read(action.after(get), known | at, now, now)
                after = self._apply(self._symbol(number, place, then), variables)
                yield self._each(variables, f"(= {after} {value})", guarded=False)

    def _moved(self, one: str, other: str, fields: Sequence[Field]) -> str:
        """Say that two states differ in some of these fields."""
        same = []
        for field in fields:
            number, _ = self._fields[field.path]
            for place in self._places(field):
                variables, _, _ = self._element(field, place)
                now, after = (
                    self._apply(self._symbol(number, place, tag), variables)
                    for tag in (one, other)
                )
                same.append(self._each(variables, f"(= {now} {after})", guarded=True))
        return self._not(self._join("and", same))

    def _typed(self, tag: str) -> Iterator[str]:
        for number, field in self._fields.values():
            for place in self._places(field):
                variables, _, _ = self._element(field, place)
                value = self._apply(self._symbol(number, place, tag), variables)
                rule = self._of_type(field.type, value)
                if rule:
                    yield self._each(variables, rule, guarded=False)

    def _of_type(self, type_: Type, value: str) -> str:
        if isinstance(type_, IntType):
            return f"(<= {_number(type_.low)} {value} {_number(type_.high)})"
        if not isinstance(type_, MemberType):
            return ""
        symbol = self._open.get(type_.sort)
        if symbol is None:
            most = self._system.sizes[type_.sort] - 1
            return f"(<= {_number(lowest(type_))} {value} {most})"
        if isinstance(type_, OptionalType):
            return ""
        return f"(distinct {value} nobody_{symbol})"

    def _starts(self, tag: str) -> Iterator[str]:
        for number, field in self._fields.values():
            for place in self._places(field):
                variables, _, _ = self._element(field, place)
                value = self._apply(self._symbol(number, place, tag), variables)
                rule = self._start(field, place, value)
                yield self._each(variables, rule, guarded=False)

    def _start(self, field: Field, place: tuple[int, ...], value: str) -> str:
        symbol = (
            self._open.get(field.type.sort)
            if isinstance(field.type, MemberType)
            else None
        )
        if symbol is not None:
            given = field.initial
            values = given.values if isinstance(given, OneOf) else (given,)
            choices = []
            if any(isinstance(v, AnyMember) for v in values):
                choices.append(f"(distinct {value} nobody_{symbol})")
            if any(isinstance(v, Nobody) for v in values):
                choices.append(f"(= {value} nobody_{symbol})")
            return self._join("or", choices)
        closed = iter(place)
        at = tuple(
            Member(0 if s in self._open else next(closed), s) for s in field.sorts
        )
        starts = [self._value(field.type, v) for v in field.starts(at)]
        return self._join("or", [f"(= {value} {start})" for start in starts])

    def _element(
        self, field: Field, place: tuple[int, ...]
    ) -> tuple[list[tuple[str, str]], Bound, tuple[t.Term, ...]]:
        """Return the bound symbols, their meaning and the indices of an element."""
        variables, at, indices = [], cast("Bound", {}), []
        closed = iter(place)
        for sort in field.sorts:
            if sort in self._open:
                name = f"x{next(self._fresh)}"
                var = t.Var(f"@{name}", MemberType(sort))
                at[var] = name
                variables.append((name, self._open[sort]))
                indices.append(cast("t.Term", var))
            else:
                indices.append(t.Const(next(closed), MemberType(sort)))
        return variables, at, tuple(indices)

    def _places(self, field: Field) -> list[tuple[int, ...]]:
        sizes = self._system.sizes
        closed = (range(sizes[s]) for s in field.sorts if s not in self._open)
        return list(itertools.product(*closed))

    @staticmethod
    def _symbol(number: int, place: tuple[int, ...], tag: str) -> str:
        return "_".join([f"f{number}", *map(str, place), tag])

    @staticmethod
    def _apply(symbol: str, variables: Sequence[tuple[str, str]]) -> str:
        if not variables:
            return symbol
        return f"({symbol} {' '.join(name for name, _ in variables)})"

    @staticmethod
    def _join(word: str, parts: Iterable[str]) -> str:
        listed = list(parts)
        if not listed:
            return "true" if word == "and" else "false"
        return listed[0] if len(listed) == 1 else f"({word} {' '.join(listed)})"

    @staticmethod
    def _not(claim: str) -> str:
        return f"(not {claim})"

    def _not_all(self, claims: Sequence[t.Term], now: str, after: str) -> str:
        read = (self._read(claim, {}, now, after) for claim in claims)
        return self._not(self._join("and", read))

    def _each(
        self, variables: Sequence[tuple[str, str]], claim: str, *, guarded: bool
    ) -> str:
        """Say something of all members; ``guarded`` leaves out nobody."""
        if not variables:
            return claim
        if guarded:
            somebody = [f"(distinct {x} nobody_{kind})" for x, kind in variables]
            claim = f"(=> {self._join('and', somebody)} {claim})"
        over = " ".join(f"({name} {kind})" for name, kind in variables)
        return f"(forall ({over}) {claim})"

    def _kind(self, type_: Type) -> str:
        if isinstance(type_, BoolType):
            return "Bool"
        if isinstance(type_, EnumType):
            return f"E{self._enums.setdefault(type_, len(self._enums))}"
        if isinstance(type_, MemberType) and type_.sort in self._open:
            return self._open[type_.sort]
        return "Int"

    def _value(self, type_: Type, value: Value) -> str:
        if isinstance(type_, BoolType):
            return "true" if value else "false"
        if isinstance(type_, EnumType):
            return f"e{self._kind(type_)[1:]}_{encode(type_, value)}"
        number = int(cast("int", value))
        if isinstance(type_, MemberType) and type_.sort in self._open:
            if number != NO_MEMBER:
                message = f"member {number} of {type_.sort.name} is named by number"
                raise ValueError(message)
            return f"nobody_{self._open[type_.sort]}"
        return _number(number)

    def _read(self, term: t.Term, known: Bound, now: str, after: str) -> str:
        def read(part: t.Term) -> str:
            return self._read(part, known, now, after)

        match term:
            case t.Const():
                return self._value(term.type, term.value)
            case t.Var():
                value = known[term]
                return _number(value) if isinstance(value, int) else value
            case t.Get():
                return self._get(term, known, now, after)
            case t.Not():
                return self._not(read(term.body))
            case t.And():
                return self._join("and", map(read, term.parts))
            case t.Or():
                return self._join("or", map(read, term.parts))
            case t.Eq():
                return f"(= {read(term.left)} {read(term.right)})"
            case t.Less():
                return f"(< {read(term.left)} {read(term.right)})"
            case t.Add():
                return f"(+ {read(term.left)} {read(term.right)})"
            case t.Sub():
                return f"(- {read(term.left)} {read(term.right)})"
            case t.Ite():
                return f"(ite {' '.join(map(read, t.children(term)))})"
            case t.ForAll() | t.Exists() | t.Sum():
                return self._quantified(term, known, now, after)
            case _:
                assert_never(term)

    def _quantified(
        self, term: t.Quantifier, known: Bound, now: str, after: str
    ) -> str:
        inner = dict(known)
        over: list[tuple[str, str]] = []
        closed = []
        for var in term.vars:
            kind = self._open.get(var.type.sort)
            if kind is None:
                closed.append(var)
            else:
                inner[var] = f"x{next(self._fresh)}"
                over.append((str(inner[var]), kind))
        ranges = [range(self._system.sizes[v.type.sort]) for v in closed]
        bodies = [
            self._read(
                term.body, inner | dict(zip(closed, each, strict=True)), now, after
            )
            for each in itertools.product(*ranges)
        ]
        if isinstance(term, t.Sum):
            if over:
                message = "a sum over a sort of any size has no text"
                raise ValueError(message)
            return f"(+ 0 {' '.join(bodies)})"
        if isinstance(term, t.ForAll):
            return self._each(over, self._join("and", bodies), guarded=True)
        none = self._not(self._join("or", bodies))
        return self._not(self._each(over, none, guarded=True))

    def _get(self, term: t.Get, known: Bound, now: str, after: str) -> str:
        number, field = self._fields[term.field]
        at = [
            known[index]
            if isinstance(index, t.Var)
            else int(cast("int", index.value))
            if isinstance(index, t.Const) and field.sorts[n] not in self._open
            else self._read(index, known, now, after)
            for n, index in enumerate(term.indices)
        ]
        opened = [
            str(i) for i, s in zip(at, field.sorts, strict=True) if s in self._open
        ]
        closed = [
            (i, self._system.sizes[s])
            for i, s in zip(at, field.sorts, strict=True)
            if s not in self._open
        ]
        tag = after if term.after else now

        def pick(done: tuple[int, ...]) -> str:
            if len(done) == len(closed):
                symbol = self._symbol(number, done, tag)
                return f"({symbol} {' '.join(opened)})" if opened else symbol
            index, size = closed[len(done)]
            if isinstance(index, int):
                return pick((*done, max(0, min(index, size - 1))))
            chosen = pick((*done, size - 1))
            for value in range(size - 2, -1, -1):
                # What comes before the first, or after the last, is that one.
                chosen = f"(ite (<= {index} {value}) {pick((*done, value))} {chosen})"
            return chosen

        return pick(())


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"
