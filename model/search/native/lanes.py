"""Claims about each member of a sort, worked out for all members at once.

The elements of a field lie side by side in one word, so a claim about the element of
each member is a few operations on that word: its lanes. A lane has one bit for each
member, as far apart as the elements of the field are, and every other bit is zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, assert_never

from llvmlite import ir

from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import lowest

if TYPE_CHECKING:
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.states.layout import Layout, Placement

_I64 = ir.IntType(64)
_WITHOUT_LANES = (t.Const, t.Var, t.Less, t.Add, t.Sub, *t.Quantified)


class RowEmitter(Protocol):
    """Emits what a term is worth in a row: all that lanes need of ``term_code.py``."""

    b: ir.IRBuilder
    system: System
    layout: Layout
    words: list[ir.Value]

    def number(self, term: t.Term) -> ir.Value:
        """Emit a number."""

    def truth(self, term: t.Term) -> ir.Value:
        """Emit a truth value."""

    def inside(self, index: t.Term, dim: int) -> ir.Value:
        """Emit an index that lies inside a field."""

    def lies(
        self, place: Placement, indices: list[ir.Value]
    ) -> tuple[ir.Value, ir.Value]:
        """Return the word and the shift of an element."""


def mentions(term: t.Term, var: t.Var) -> bool:
    """Return whether a term depends on a variable."""
    return any(sub == var for sub in t.subterms(term))


class MemberLanes:
    """Writes what a claim is worth for each member that one variable stands for."""

    def __init__(self, emitter: RowEmitter, var: t.Var) -> None:
        """Work for the members of the variable's sort."""
        self._emitter = emitter
        self._var = var
        self._count = emitter.system.sizes[var.type.sort]

    def stride(self, term: t.Term) -> int | None:
        """Return how far apart the bits of a claim lie; None where it has no lanes."""
        strides = self._strides(term)
        return strides.pop() if strides is not None and len(strides) == 1 else None

    def ones(self, stride: int) -> int:
        """Return the lanes of a claim that is true of each member."""
        return sum(1 << m * stride for m in range(self._count))

    def claim(self, term: t.Term, stride: int) -> ir.Value:
        """Emit the lanes of a claim whose stride this is."""
        b = self._emitter.b
        ones = ir.Constant(_I64, self.ones(stride))
        if not mentions(term, self._var):
            return b.select(self._emitter.truth(term), ones, ir.Constant(_I64, 0))
        if isinstance(term, _WITHOUT_LANES):
            message = f"{type(term).__name__} has no lanes"
            raise TypeError(message)
        match term:
            case t.Not():
                return b.xor(self.claim(term.body, stride), ones)
            case t.And() | t.Or():
                combine = b.and_ if isinstance(term, t.And) else b.or_
                result = self.claim(term.parts[0], stride)
                for part in term.parts[1:]:
                    result = combine(result, self.claim(part, stride))
                return result
            case t.Ite():
                test = self.claim(term.test, stride)
                then = b.and_(test, self.claim(term.then, stride))
                orelse = self.claim(term.orelse, stride)
                return b.or_(then, b.and_(b.xor(test, ones), orelse))
            case t.Get():
                return b.and_(self._elements(term), ones)
            case t.Eq():
                return self._equal(term, stride)
            case _:
                assert_never(term)

    def _strides(self, term: t.Term) -> set[int] | None:
        """Return the strides of all fields that a claim reads for each member."""
        if not mentions(term, self._var):
            return set()
        if isinstance(term, _WITHOUT_LANES):
            return None
        match term:
            case t.Not() | t.And() | t.Or() | t.Ite():
                found: set[int] = set()
                for part in t.children(term):
                    inner = self._strides(part)
                    if inner is None:
                        return None
                    found |= inner
                return found
            case t.Get():
                place = self._place(term)
                return None if place is None else {self._apart(term, place)}
            case t.Eq():
                return self._strides_of_equality(term)
            case _:
                assert_never(term)

    def _strides_of_equality(self, term: t.Eq) -> set[int] | None:
        """Return the strides of two elements, or of one that is compared with all."""
        sides = [s for s in (term.left, term.right) if mentions(s, self._var)]
        places = [self._place(s) if isinstance(s, t.Get) else None for s in sides]
        found: set[int] = set()
        for side, place in zip(sides, places, strict=True):
            if place is None or not isinstance(side, t.Get):
                return None
            found.add(self._apart(side, place))
        codes = {(p.bits, lowest(p.field.type)) for p in places if p is not None}
        return found if len(codes) == 1 else None

    def _place(self, get: t.Get) -> Placement | None:
        """Return where the elements lie, if they lie in one word, a lane for each."""
        place = self._emitter.layout.placements[get.field]
        others = [i for i in get.indices if i != self._var]
        alone = len(others) == len(get.indices) - 1
        if get.after or place.split or not alone:
            return None
        return None if any(mentions(i, self._var) for i in others) else place

    def _apart(self, get: t.Get, place: Placement) -> int:
        """Return how many bits apart the elements of two neighbours are."""
        apart = place.bits
        for dim in place.dims[get.indices.index(self._var) + 1 :]:
            apart *= dim
        return apart

    def _elements(self, get: t.Get) -> ir.Value:
        """Emit the word with the first member's element in its lowest bits."""
        place = self._emitter.layout.placements[get.field]
        indices = [
            ir.Constant(_I64, 0)
            if index == self._var
            else self._emitter.inside(index, dim)
            for index, dim in zip(get.indices, place.dims, strict=True)
        ]
        _, shift = self._emitter.lies(place, indices)
        return self._emitter.b.lshr(self._emitter.words[place.word], shift)

    def _equal(self, term: t.Eq, stride: int) -> ir.Value:
        """Emit where two elements are equal, or one has a value that all share."""
        b = self._emitter.b
        sides = (term.left, term.right)
        gets = [s for s in sides if isinstance(s, t.Get) and mentions(s, self._var)]
        shared = [s for s in sides if not mentions(s, self._var)]
        place = self._emitter.layout.placements[gets[0].field]
        ones = ir.Constant(_I64, self.ones(stride))
        fits: ir.Value | None = None
        if shared:
            low = ir.Constant(_I64, lowest(place.field.type))
            code = b.sub(self._emitter.number(shared[0]), low)
            fits = b.icmp_unsigned("<=", code, ir.Constant(_I64, place.mask))
            other = b.mul(code, ones)
        else:
            other = self._elements(gets[1])
        differ = b.xor(self._elements(gets[0]), other)
        some = differ
        for bit in range(1, place.bits):
            some = b.or_(some, b.lshr(differ, ir.Constant(_I64, bit)))
        same = b.and_(b.xor(some, ones), ones)
        return same if fits is None else b.select(fits, same, ir.Constant(_I64, 0))
