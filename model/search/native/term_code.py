"""Native code of terms: what a claim or a guard is worth in a packed state."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, assert_never

from llvmlite import ir

from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.ranges import Ranges
from onceproof.model.language.terms.types import BoolType, EnumType, encode, lowest
from onceproof.model.search.native.lanes import MemberLanes, mentions
from onceproof.model.search.states.layout import WORD_BITS, Layout, Placement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.symmetry import Symmetry

I64 = ir.IntType(64)
I1 = ir.IntType(1)


def constant(value: int) -> ir.Constant:
    """Make a 64-bit constant."""
    return ir.Constant(I64, value)


class TermEmitter:
    """Emits terms over a row. ``number`` gives an i64, ``truth`` an i1."""

    row: ir.Value
    k: ir.Value

    def __init__(
        self,
        system: System,
        layout: Layout,
        function: ir.Function,
        symmetry: Symmetry | None,
    ) -> None:
        """Begin the function; its arguments are the arrays that it works on."""
        self.system = system
        self.symmetry = symmetry
        self.layout = layout
        self.function = function
        self.entry = ir.IRBuilder(function.append_basic_block("entry"))
        self.b = ir.IRBuilder(function.append_basic_block("start"))
        (
            self.states,
            self.lo,
            self.hi,
            self.out,
            self.acts,
            self.srcs,
            self.flags,
            self.broken,
            self.made,
        ) = function.args[:9]
        self.vars: dict[t.Var, ir.Value] = {}
        # What was worked out once for the row, since several actions ask for it.
        self.known: dict[t.Term, ir.Value] = {}
        self.words: list[ir.Value] = []

    def cell(self, value: ir.Value) -> ir.Value:
        """Make a variable that holds ``value``."""
        cell = self.entry.alloca(value.type)
        self.b.store(value, cell)
        return cell

    def bump(self, cell: ir.Value, by: ir.Value | None = None) -> None:
        """Count on in a cell, by one or by a number."""
        more = constant(1) if by is None else by
        self.b.store(self.b.add(self.b.load(cell), more), cell)

    def at(self, pointer: ir.Value, index: ir.Value) -> ir.Value:
        """Point to a place of an array."""
        return self.b.gep(pointer, [index])

    def spot(self, rows: ir.Value, row: ir.Value, word: ir.Value) -> ir.Value:
        """Point to a word of a row."""
        offset = self.b.add(self.b.mul(row, constant(self.layout.words)), word)
        return self.at(rows, offset)

    @contextmanager
    def loop(
        self, lo: ir.Value, hi: ir.Value, out: ir.Block | None = None
    ) -> Iterator[ir.Value]:
        """Run the block for each index; ``out`` takes the place of the loop's end."""
        index = self.entry.alloca(I64)
        self.b.store(lo, index)
        head = self.function.append_basic_block("head")
        inside = self.function.append_basic_block("body")
        end = out or self.function.append_basic_block("end")
        self.b.branch(head)
        self.b.position_at_end(head)
        value = self.b.load(index)
        self.b.cbranch(self.b.icmp_signed("<", value, hi), inside, end)
        self.b.position_at_end(inside)
        yield value
        self.b.store(self.b.add(value, constant(1)), index)
        self.b.branch(head)
        self.b.position_at_end(end)

    @contextmanager
    def members(self, variables: Sequence[t.Var]) -> Iterator[None]:
        """Run the block for all members that the variables range over."""
        if not variables:
            yield
            return
        size = self.system.sizes[variables[0].type.sort]
        with self.loop(constant(0), constant(size)) as index:
            self.vars[variables[0]] = index
            with self.members(variables[1:]):
                yield

    # Terms --------------------------------------------------------------------

    def number(self, term: t.Term) -> ir.Value:
        """Emit a term as a 64-bit integer: numbers as they are, the rest coded."""
        match term:
            case t.Const():
                return constant(number_of(term))
            case t.Var():
                return self.vars[term]
            case t.Get():
                return self.get(term)
            case t.Add():
                return self.b.add(self.number(term.left), self.number(term.right))
            case t.Sub():
                return self.b.sub(self.number(term.left), self.number(term.right))
            case t.Ite():
                then, orelse = self.number(term.then), self.number(term.orelse)
                return self.b.select(self.truth(term.test), then, orelse)
            case t.Sum() if term in self.known:
                return self.known[term]
            case t.Sum():
                counted = self.counted(term)
                if counted is not None:
                    return counted
                total = self.cell(constant(0))
                with self.members(term.vars):
                    more = self.number(term.body)
                    self.b.store(self.b.add(self.b.load(total), more), total)
                return self.b.load(total)
            case t.Not() | t.And() | t.Or() | t.Eq() | t.Less():
                return self.b.zext(self.truth(term), I64)
            case t.ForAll() | t.Exists():
                return self.b.zext(self.truth(term), I64)
            case _:
                assert_never(term)

    def truth(self, term: t.Term) -> ir.Value:
        """Emit a term as a truth value."""
        match term:
            case t.Const():
                return ir.Constant(I1, int(bool(term.value)))
            case t.Not():
                return self.b.not_(self.truth(term.body))
            case t.And() | t.Or():
                return self.join(term)
            case t.Eq() | t.Less():
                sign = "==" if isinstance(term, t.Eq) else "<"
                left, right = self.number(term.left), self.number(term.right)
                return self.b.icmp_signed(sign, left, right)
            case t.Ite():
                then, orelse = self.truth(term.then), self.truth(term.orelse)
                return self.b.select(self.truth(term.test), then, orelse)
            case t.ForAll() | t.Exists() if term in self.known:
                return self.known[term]
            case t.ForAll() | t.Exists():
                return self.quantified(term)
            case t.Get():
                return self.b.icmp_signed("!=", self.get(term), constant(0))
            case t.Var() | t.Add() | t.Sub() | t.Sum():
                message = f"{type(term).__name__} is a number, and no truth value"
                raise TypeError(message)
            case _:
                assert_never(term)

    def join(self, term: t.And | t.Or) -> ir.Value:
        """Emit all parts of a conjunction or disjunction."""
        combine: Callable[[ir.Value, ir.Value], ir.Value] = (
            self.b.and_ if isinstance(term, t.And) else self.b.or_
        )
        result = self.truth(term.parts[0])
        for part in term.parts[1:]:
            result = combine(result, self.truth(part))
        return result

    def quantified(self, term: t.ForAll | t.Exists) -> ir.Value:
        """Emit a claim about all members, at once for one sort where that can be."""
        whole = self.uniform(term)
        if whole is not None:
            return whole
        universal = isinstance(term, t.ForAll)
        if len(term.vars) > 1:
            return self.one_by_one(term)
        (var,) = term.vars
        lanes = MemberLanes(self, var)
        stride = lanes.stride(term.body)
        if stride is not None:
            wanted = constant(lanes.ones(stride) if universal else 0)
            sign = "==" if universal else "!="
            return self.b.icmp_signed(sign, lanes.claim(term.body, stride), wanted)
        apart = self.taken_apart(term, var)
        return self.search(term) if apart is None else self.truth(apart)

    def one_by_one(self, term: t.ForAll | t.Exists) -> ir.Value:
        """Emit a claim about several members, with one of them all at once if it can.

        That one is the last of which the claim has lanes or can be taken apart.
        """
        kind = type(term)
        for var in reversed(term.vars):
            inner = kind((var,), term.body)
            apart = self.taken_apart(inner, var)
            if apart is None and MemberLanes(self, var).stride(term.body) is None:
                continue
            others = tuple(v for v in term.vars if v != var)
            return self.truth(kind(others, inner if apart is None else apart))
        return self.search(term)

    def taken_apart(self, term: t.ForAll | t.Exists, var: t.Var) -> t.Term | None:
        """Move out of a quantifier what does not depend on its member, if anything.

        "Some member has A, or B" is two claims, and so is "every member has A, and B".
        """
        universal = isinstance(term, t.ForAll)
        kind = type(term)
        body = term.body
        if not mentions(body, var):
            return body
        if isinstance(body, t.And if universal else t.Or):
            join = t.And if universal else t.Or
            return join(tuple(_bound(kind, var, part) for part in body.parts))
        if not isinstance(body, t.Or if universal else t.And):
            return None
        inner = [part for part in body.parts if mentions(part, var)]
        outer = [part for part in body.parts if part not in inner]
        if not outer:
            return None
        join = t.Or if universal else t.And
        rest = inner[0] if len(inner) == 1 else join(tuple(inner))
        return join((*outer, kind((var,), rest)))

    def counted(self, term: t.Sum) -> ir.Value | None:
        """Emit a sum over one sort of one of two numbers, by counting bits."""
        body = term.body
        if len(term.vars) != 1 or not isinstance(body, t.Ite):
            return None
        (var,) = term.vars
        lanes = MemberLanes(self, var)
        stride = lanes.stride(body.test)
        if stride is None or mentions(body.then, var) or mentions(body.orelse, var):
            return None
        chosen = self.b.ctpop(lanes.claim(body.test, stride))
        others = self.b.sub(constant(lanes.ones(stride).bit_count()), chosen)
        then = self.b.mul(chosen, self.number(body.then))
        return self.b.add(then, self.b.mul(others, self.number(body.orelse)))

    def search(self, term: t.ForAll | t.Exists) -> ir.Value:
        """Look at members until the first that settles the claim."""
        universal = isinstance(term, t.ForAll)
        found = self.cell(ir.Constant(I1, int(universal)))
        end = self.function.append_basic_block("settled")
        with self.members(term.vars):
            claim = self.truth(term.body)
            settled = self.function.append_basic_block("found")
            onward = self.function.append_basic_block("onward")
            if universal:
                self.b.cbranch(claim, onward, settled)
            else:
                self.b.cbranch(claim, settled, onward)
            self.b.position_at_end(settled)
            self.b.store(ir.Constant(I1, int(not universal)), found)
            self.b.branch(end)
            self.b.position_at_end(onward)
        self.b.branch(end)
        self.b.position_at_end(end)
        return self.b.load(found)

    def uniform(self, term: t.ForAll | t.Exists) -> ir.Value | None:
        """Compare a whole field with one value at once, where the claim does so."""
        universal = isinstance(term, t.ForAll)
        body = term.body if universal else t.negation(term.body)
        wanted: int | None = None
        if isinstance(body, t.Not) and isinstance(body.body, t.Get):
            body, wanted = body.body, 0
        elif isinstance(body, t.Eq) and isinstance(body.right, t.Const):
            if isinstance(t.sort_of(body.left), EnumType):
                wanted = number_of(body.right)
            body = body.left
        elif isinstance(body, t.Get):
            wanted = 1
        if wanted is None or not isinstance(body, t.Get):
            return None
        place = self.layout.placements[body.field]
        if body.after or body.indices != term.vars or place.split:
            return None
        clear, pattern = repeated(place, wanted)
        held = self.b.and_(self.words[place.word], constant(clear))
        sign = "==" if universal else "!="
        return self.b.icmp_signed(sign, held, constant(pattern))

    def get(self, get: t.Get) -> ir.Value:
        """Emit what an element of the state holds."""
        place = self.layout.placements[get.field]
        indices = [
            self.inside(index, dim)
            for index, dim in zip(get.indices, place.dims, strict=True)
        ]
        code = self.element(place, indices, after=get.after)
        low = lowest(place.field.type)
        return self.b.add(code, constant(low)) if low else code

    def inside(self, index: t.Term, dim: int) -> ir.Value:
        """Emit an index. One that only a guard keeps inside is kept there here too.

        Conditions of a guard are worked out in any order: what is read is then not
        used, but it must be read inside the state.
        """
        number = self.number(index)
        low, high = Ranges(self.system.sizes).bounds(index)
        if low >= 0 and high < dim:
            return number
        first, last = constant(0), constant(dim - 1)
        below = self.b.icmp_signed("<", number, first)
        number = self.b.select(below, first, number)
        above = self.b.icmp_signed(">", number, last)
        return self.b.select(above, last, number)

    def element(
        self, place: Placement, indices: list[ir.Value], *, after: bool = False
    ) -> ir.Value:
        """Emit the code of an element of a field."""
        word, shift = self.lies(place, indices)
        if after:
            held = self.b.load(self.spot(self.out, self.b.load(self.k), word))
        elif place.split:
            held = self.b.load(self.spot(self.states, self.row, word))
        else:
            held = self.words[place.word]
        return self.b.and_(self.b.lshr(held, shift), constant(place.mask))

    def lies(
        self, place: Placement, indices: list[ir.Value]
    ) -> tuple[ir.Value, ir.Value]:
        """Return the word and the shift of an element."""
        element = self.flat(indices, list(place.dims))
        bits = constant(place.bits)
        if not place.split:
            shift = self.b.add(constant(place.shift), self.b.mul(element, bits))
            return constant(place.word), shift
        per_word = constant(WORD_BITS // place.bits)
        word = self.b.add(constant(place.word), self.b.udiv(element, per_word))
        return word, self.b.mul(self.b.urem(element, per_word), bits)

    def flat(self, indices: list[ir.Value], dims: list[int]) -> ir.Value:
        """Emit the number of an element among all of its field."""
        flat: ir.Value = constant(0)
        for index, dim in zip(indices, dims, strict=True):
            flat = self.b.add(self.b.mul(flat, constant(dim)), index)
        return flat


def _bound(kind: type[t.ForAll | t.Exists], var: t.Var, part: t.Term) -> t.Term:
    """Bind a member in a part of a claim that depends on it."""
    return kind((var,), part) if mentions(part, var) else part


def number_of(term: t.Const) -> int:
    """Return a constant as it is coded."""
    if isinstance(term.type, BoolType | EnumType):
        return encode(term.type, term.value)
    return int(term.value)  # type: ignore[arg-type]


def repeated(place: Placement, code: int) -> tuple[int, int]:
    """Return the bits of all elements, and those that hold ``code`` in each."""
    clear = pattern = 0
    for element in range(place.count):
        shift = place.spot(element)[1]
        clear |= place.mask << shift
        pattern |= code << shift
    return clear, pattern
