"""Terms as z3 formulas, over sorts of a given size or of any size.

A *closed* sort has its given size: what is quantified over it is spelled out, and a
field has one z3 constant for each of its members. An *open* sort is one of z3's
uninterpreted sorts, so that what is shown of it holds for every number of members;
a field over it is a function. Truth values are z3's; enumerations, integers and
members of closed sorts are bit-vectors, wide enough that no sum of the model wraps.

What is known without asking z3 stays a Python value: an encoded term is a ``bool``,
an ``int`` or a z3 expression.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, cast

import z3

from onceproof.model.language.fields import OneOf
from onceproof.model.language.sorts import NO_MEMBER, AnyMember, Member, Nobody
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import (
    BoolType,
    EnumType,
    MemberType,
    OptionalType,
    Type,
    Value,
    decode,
    encode,
    member,
)
from onceproof.properties.judges.by_proof.connectives import (
    asserted,
    conjoin,
    disjoin,
    negate,
    same,
)
from onceproof.properties.judges.by_proof.widths import width, with_nobody, within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onceproof.model.language.fields import Field
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System

Elements: TypeAlias = "dict[tuple[str, tuple[int, ...]], Any]"
Environment: TypeAlias = "Mapping[t.Var, Any]"


class Encoder:
    """Encodes the terms of one system."""

    def __init__(
        self,
        system: System,
        claims: Iterable[t.Term],
        *,
        open_sorts: frozenset[Sort] = frozenset(),
    ) -> None:
        """Choose the width of integers from the system and the claims about it."""
        self.system = system
        self._fields = {f.path: f for f in system.fields}
        claims = list(claims)
        self._width = width(system, claims)
        self._open = {
            s: z3.DeclareSort(f"{s.name}#{n}") for n, s in enumerate(open_sorts)
        }
        self._nobody = {
            s: z3.Const(f"nobody of {s.name}", self._open[s])
            for s in with_nobody(system, claims)
            if s in self._open
        }

    @property
    def open_sorts(self) -> frozenset[Sort]:
        """The sorts that have any number of members here."""
        return frozenset(self._open)

    def elements(self, tag: str) -> Elements:
        """Make z3 constants (functions, over open sorts) for a state called ``tag``."""
        found: Elements = {}
        for field in self.system.fields:
            domain = [self._open[s] for s in field.sorts if s in self._open]
            for place in self._places(field):
                name = f"{field.path}{list(place)}@{tag}"
                sort = self._sort(field.type)
                found[field.path, place] = (
                    z3.Function(name, *domain, sort) if domain else z3.Const(name, sort)
                )
        return found

    def initial(self, elements: Elements) -> list[Any]:
        """Say that the state is one that the system starts from."""
        constraints = self._members_are_some()
        for field in self.system.fields:
            for place in self._places(field):
                closed = iter(place)
                at = tuple(
                    Member(0 if s in self._open else next(closed), s)
                    for s in field.sorts
                )
                rule = self._starting(field, at)
                constraints.append(
                    self._of_each(field, elements[field.path, place], rule)
                )
        return constraints

    def typed(self, elements: Elements) -> list[Any]:
        """Say that each element holds a value of its type, and each parameter."""
        constraints = self._members_are_some()
        constraints += [
            self.is_member(
                param.type, z3.Const(f"{param.name}!", self._open[param.type.sort])
            )
            for action in self.system.actions
            for param in action.params
            if param.type.sort in self._open
        ]
        for (path, _), element in elements.items():
            field = self._fields[path]
            if isinstance(field.type, BoolType):
                continue
            if isinstance(field.type, MemberType) and self._opens(field.type):
                if not isinstance(field.type, OptionalType):
                    rule = partial(self.is_member, field.type)
                    constraints.append(self._of_each(field, element, rule))
                continue
            rule = partial(within, field.type, self.system.sizes)
            constraints.append(self._of_each(field, element, rule))
        return constraints

    def instances(self, action: ActionTerm) -> Iterator[dict[t.Var, Any]]:
        """Yield what the parameters may be: each member, or any of an open sort."""
        choices: list[Iterable[Any]] = [
            [z3.Const(f"{p.name}!", self._open[p.type.sort])]
            if p.type.sort in self._open
            else range(self.system.sizes[p.type.sort])
            for p in action.params
        ]
        for members in itertools.product(*choices):
            yield dict(zip(action.params, members, strict=True))

    def code(self, type_: Type, value: Value) -> Any:
        """Return the Python value by which a value of ``type_`` is encoded.

        Nobody of an open sort is a constant of z3.
        """
        if isinstance(type_, BoolType):
            return bool(value)
        if isinstance(type_, EnumType):
            return encode(type_, value)
        number = int(cast("int", value))
        if self._opens(type_) and number == NO_MEMBER:
            return self._nobody[cast("MemberType", type_).sort]
        return number

    def value(self, type_: Type, number: Any) -> Value:
        """Return the value that an element has in a z3 model."""
        if isinstance(type_, BoolType):
            return bool(z3.is_true(number))
        if isinstance(type_, EnumType):
            return decode(type_, number.as_long())
        found = int(number.as_signed_long())
        return member(found, type_.sort) if isinstance(type_, MemberType) else found

    def encode(
        self,
        term: t.Term,
        values: Environment,
        now: Elements,
        after: Elements | None = None,
    ) -> Any:
        """Encode ``term`` where variables have ``values``, in a state or a step."""
        return _Reading(self, values, now, after).read(term)

    def _places(self, field: Field) -> list[tuple[int, ...]]:
        sizes = self.system.sizes
        return list(
            itertools.product(
                *(range(sizes[s]) for s in field.sorts if s not in self._open)
            )
        )

    def _of_each(self, field: Field, element: Any, rule: Any) -> Any:
        over = [
            z3.Const(f"{s.name}?{n}", self._open[s])
            for n, s in enumerate(field.sorts)
            if s in self._open
        ]
        if not over:
            return rule(element)
        return z3.ForAll(over, asserted(rule(element(*over))))

    def _opens(self, type_: Type) -> bool:
        return isinstance(type_, MemberType) and type_.sort in self._open

    def _sort(self, type_: Type) -> Any:
        if isinstance(type_, BoolType):
            return z3.BoolSort()
        if isinstance(type_, MemberType) and type_.sort in self._open:
            return self._open[type_.sort]
        if isinstance(type_, EnumType):
            return z3.BitVecSort(max(1, (len(type_.members) - 1).bit_length()))
        return z3.BitVecSort(self._width)

    def literal(self, type_: Type, value: Any) -> Any:
        """Return a z3 expression for an encoded term of ``type_``."""
        if isinstance(value, bool):
            return z3.BoolVal(value)
        if isinstance(value, int):
            return z3.BitVecVal(value, self._sort(type_))
        return value

    def element(self, field: str, at: list[Any], elements: Elements) -> Any:
        """Return the element of a field at encoded indices."""
        closed: list[Any] = []
        opened: list[Any] = []
        sorts = self._fields[field].sorts
        for index, sort in zip(at, sorts, strict=True):
            (opened if sort in self._open else closed).append(index)
        sizes = [self.system.sizes[s] for s in sorts if s not in self._open]

        def pick(done: tuple[int, ...]) -> Any:
            if len(done) == len(closed):
                found = elements[field, done]
                return found(*opened) if opened else found
            index, size = closed[len(done)], sizes[len(done)]
            if isinstance(index, int):
                return pick((*done, max(0, min(index, size - 1))))
            chosen = pick((*done, size - 1))
            for number in range(size - 2, -1, -1):
                chosen = z3.If(index == number, pick((*done, number)), chosen)
            return chosen

        return pick(())

    def is_member(self, type_: MemberType, value: Any) -> Any:
        """Say that a value of an open sort is one of its members, and not nobody."""
        nobody = self._nobody.get(type_.sort)
        return True if nobody is None else value != nobody

    def _members_are_some(self) -> list[Any]:
        """Say that each open sort has a member besides nobody: no sort is empty."""
        return [
            nobody != z3.FreshConst(nobody.sort()) for nobody in self._nobody.values()
        ]

    def _starting(self, field: Field, at: tuple[Member, ...]) -> Any:
        """Return what to say of an element's value where the system starts.

        Whoever an open sort has may be any of its members, however many there are.
        """
        if not (isinstance(field.type, MemberType) and field.type.sort in self._open):
            codes = [self.code(field.type, v) for v in field.starts(at)]
            return partial(_among, codes)
        initial = field.initial
        values = initial.values if isinstance(initial, OneOf) else (initial,)
        somebody = partial(self.is_member, field.type)
        nobody = self._nobody.get(field.type.sort)
        anyone = any(isinstance(value, AnyMember) for value in values)
        no_one = any(isinstance(value, Nobody) for value in values)
        if anyone and no_one:
            return lambda _: True
        return somebody if anyone else lambda value: value == nobody

    def opened(self, var: t.Var) -> Any:
        """Return z3's variable for one of an open sort, None for a closed sort."""
        sort = self._open.get(var.type.sort)
        return None if sort is None else z3.Const(var.name, sort)


class _Reading:
    """Reads terms in one state, or one step."""

    def __init__(
        self,
        encoder: Encoder,
        values: Environment,
        now: Elements,
        after: Elements | None,
    ) -> None:
        self._encoder = encoder
        self._values: dict[t.Var, Any] = dict(values)
        self._now = now
        self._after = after

    def read(self, term: t.Term) -> Any:
        """Encode a term."""
        match term:
            case t.Const():
                return self._encoder.code(term.type, term.value)
            case t.Var():
                return self._values[term]
            case t.Get():
                return self._get(term)
            case t.Not():
                return negate(self.read(term.body))
            case t.And():
                return conjoin(self.read(p) for p in term.parts)
            case t.Or():
                return disjoin(self.read(p) for p in term.parts)
            case t.Eq():
                return same(self.read(term.left), self.read(term.right))
            case t.Less():
                return self.read(term.left) < self.read(term.right)
            case t.Add():
                return self.read(term.left) + self.read(term.right)
            case t.Sub():
                return self.read(term.left) - self.read(term.right)
            case t.Ite():
                return self._ite(term)
            case t.ForAll():
                return self._forall(term)
            case t.Exists():
                return self._exists(term)
            case t.Sum():
                return self._sum(term)
            case _:
                assert_never(term)

    def _get(self, term: t.Get) -> Any:
        elements = self._after if term.after else self._now
        if elements is None:
            message = f"{term.field} is read after a step, and there is none"
            raise ValueError(message)
        at = [self.read(i) for i in term.indices]
        return self._encoder.element(term.field, at, elements)

    def _ite(self, term: t.Ite) -> Any:
        test = self.read(term.test)
        if isinstance(test, bool):
            return self.read(term.then if test else term.orelse)
        then, orelse = self.read(term.then), self.read(term.orelse)
        if isinstance(then, bool):
            return disjoin([test, orelse]) if then else conjoin([negate(test), orelse])
        if isinstance(orelse, bool):
            return disjoin([negate(test), then]) if orelse else conjoin([test, then])
        if isinstance(then, int) and isinstance(orelse, int) and then == orelse:
            return then
        type_ = t.sort_of(term)
        literal = self._encoder.literal
        return z3.If(test, literal(type_, then), literal(type_, orelse))

    def _forall(self, term: t.ForAll) -> Any:
        over, bodies, members = self._spelled(term)
        body = disjoin([negate(members), conjoin(bodies)])
        return z3.ForAll(over, body) if over and not isinstance(body, bool) else body

    def _exists(self, term: t.Exists) -> Any:
        over, bodies, members = self._spelled(term)
        body = conjoin([members, disjoin(bodies)])
        return z3.Exists(over, body) if over and not isinstance(body, bool) else body

    def _sum(self, term: t.Sum) -> Any:
        over, bodies, _ = self._spelled(term)
        if over:
            message = "a sum over a sort of any size is no formula of z3"
            raise ValueError(message)
        total: Any = 0
        for body in bodies:
            total = body if isinstance(total, int) and total == 0 else total + body
        return total

    def _spelled(self, term: t.Quantifier) -> tuple[list[Any], list[Any], Any]:
        """Bind the variables of open sorts, and spell out the others.

        Says last that those which are bound are members, and not nobody.
        """
        over = []
        closed = []
        outer = self._values
        inner = dict(outer)
        for var in term.vars:
            constant = self._encoder.opened(var)
            if constant is None:
                closed.append(var)
            else:
                inner[var] = constant
                over.append(constant)
        sizes = self._encoder.system.sizes
        bodies = []
        for members in itertools.product(*(range(sizes[v.type.sort]) for v in closed)):
            self._values = inner | dict(zip(closed, members, strict=True))
            bodies.append(self.read(term.body))
        self._values = outer
        members = conjoin(
            self._encoder.is_member(var.type, inner[var])
            for var in term.vars
            if var not in closed
        )
        return over, bodies, members


def _among(codes: list[bool | int], value: Any) -> Any:
    return disjoin([same(value, code) for code in codes])
