"""Native code from terms: a function that expands packed states, as LLVM's IR."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from llvmlite import ir

from onceproof.model.explore.layout import WORD_BITS, Layout, Placement
from onceproof.model.language import terms as t
from onceproof.model.language.types import BoolType, EnumType, IntType, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onceproof.model.explore.symmetry import Symmetry
    from onceproof.model.language.stores import Write
    from onceproof.model.language.trace import ActionTerm, System

REST_BIT = 62

_I64 = ir.IntType(64)
_I1 = ir.IntType(1)
_ROWS = _I64.as_pointer()


def instances(system: System, action: ActionTerm) -> int:
    """Count the events that an action stands for."""
    number = 1
    for param in action.params:
        number *= system.sizes[param.type.sort]
    return number


def expander_ir(
    system: System,
    layout: Layout,
    claims: Sequence[t.Term],
    step_claims: Sequence[t.Term],
    symmetry: Symmetry | None = None,
) -> str:
    """Write ``expand``, which works out the successors of packed states.

    ``expand(states, lo, hi, out, acts, srcs, flags, broken, made)`` takes pointers
    to 64-bit integers. It looks at rows ``lo`` to ``hi`` of ``states``. It writes
    each successor that differs from its state to ``out``, the number of its event
    to ``acts`` and the row it came from to ``srcs``; bit ``c`` of ``flags`` where
    claim ``c`` holds, and bit 62 where the state rests; in ``broken[c]`` the first
    row and successor that break step claim ``c``; and in ``made`` how many
    successors it wrote and how many it generated, those that change nothing
    included. With ``symmetry``, of members that are in the same state the first acts
    for all.
    """
    module = ir.Module("onceproof")
    arguments = [_ROWS, _I64, _I64, *[_ROWS] * 6]
    kind = ir.FunctionType(ir.VoidType(), arguments)
    function = ir.Function(module, kind, "expand")
    names = ["states", "lo", "hi", "out", "acts", "srcs", "flags", "broken", "made"]
    for argument, name in zip(function.args, names, strict=True):
        argument.name = name
        if isinstance(argument.type, ir.PointerType):
            argument.add_attribute("noalias")
    _Emitter(system, layout, function, symmetry).body(claims, step_claims)
    return str(module)


def _constant(value: int) -> ir.Constant:
    return ir.Constant(_I64, value)


class _Emitter:
    """Emits one function. ``number`` gives an i64, ``truth`` an i1."""

    def __init__(
        self,
        system: System,
        layout: Layout,
        function: ir.Function,
        symmetry: Symmetry | None,
    ) -> None:
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
        ) = function.args
        self.vars: dict[t.Var, ir.Value] = {}
        self.words: list[ir.Value] = []

    # Frame --------------------------------------------------------------------

    def body(self, claims: Sequence[t.Term], step_claims: Sequence[t.Term]) -> None:
        self.k = self.cell(_constant(0))
        self.generated = self.cell(_constant(0))
        self.moves = self.cell(_constant(0))
        with self.loop(self.lo, self.hi) as row:
            self.row = row
            self.words = [
                self.b.load(self.spot(self.states, row, _constant(w)))
                for w in range(self.layout.words)
            ]
            self.b.store(_constant(0), self.moves)
            first = 0
            for action in self.system.actions:
                self.action(action, first, step_claims)
                first += instances(self.system, action)
            self.settle(claims)
        self.b.store(self.b.load(self.k), self.at(self.made, _constant(0)))
        self.b.store(self.b.load(self.generated), self.at(self.made, _constant(1)))
        self.b.ret_void()
        self.entry.branch(self.function.blocks[1])

    def settle(self, claims: Sequence[t.Term]) -> None:
        """Write the flags of the row."""
        bits = _constant(0)
        resting = self.b.icmp_signed("==", self.b.load(self.moves), _constant(0))
        truths = [(n, self.truth(claim)) for n, claim in enumerate(claims)]
        for number, truth in [*truths, (REST_BIT, resting)]:
            wide = self.b.zext(truth, _I64)
            bits = self.b.or_(bits, self.b.shl(wide, _constant(number)))
        self.b.store(bits, self.at(self.flags, self.b.sub(self.row, self.lo)))

    def cell(self, value: ir.Value) -> ir.Value:
        """Make a variable that holds ``value``."""
        cell = self.entry.alloca(value.type)
        self.b.store(value, cell)
        return cell

    def bump(self, cell: ir.Value) -> None:
        self.b.store(self.b.add(self.b.load(cell), _constant(1)), cell)

    def at(self, pointer: ir.Value, index: ir.Value) -> ir.Value:
        return self.b.gep(pointer, [index])

    def spot(self, rows: ir.Value, row: ir.Value, word: ir.Value) -> ir.Value:
        offset = self.b.add(self.b.mul(row, _constant(self.layout.words)), word)
        return self.at(rows, offset)

    @contextmanager
    def loop(
        self, lo: ir.Value, hi: ir.Value, out: ir.Block | None = None
    ) -> Iterator[ir.Value]:
        """Run the block for each index; ``out`` takes the place of the loop's end."""
        index = self.entry.alloca(_I64)
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
        self.b.store(self.b.add(value, _constant(1)), index)
        self.b.branch(head)
        self.b.position_at_end(end)

    @contextmanager
    def members(self, variables: Sequence[t.Var]) -> Iterator[None]:
        """Run the block for all members that the variables can stand for."""
        if not variables:
            yield
            return
        size = self.system.sizes[variables[0].type.sort]
        with self.loop(_constant(0), _constant(size)) as index:
            self.vars[variables[0]] = index
            with self.members(variables[1:]):
                yield

    # Actions ------------------------------------------------------------------

    def action(
        self, action: ActionTerm, first: int, step_claims: Sequence[t.Term]
    ) -> None:
        """Emit all events of an action; conditions on no member come first."""
        free = set(action.params)
        parts = sorted(t.conjuncts(action.guard), key=_has_loop)
        inner = [p for p in parts if any(s in free for s in t.subterms(p))]
        outer = [p for p in parts if p not in inner]
        done = self.function.append_basic_block("done")
        self.guards(outer, done)
        with self.members(action.params):
            skip = self.function.append_basic_block("skip")
            self.first_of_twins(action, skip)
            self.guards(inner, skip)
            self.successor(action, first, step_claims)
            self.b.branch(skip)
            self.b.position_at_end(skip)
        self.b.branch(done)
        self.b.position_at_end(done)

    def first_of_twins(self, action: ActionTerm, otherwise: ir.Block) -> None:
        """Pass over members that are in the same state as the one before them."""
        if self.symmetry is None or not self.symmetry.simple:
            return
        sorts = [p.type.sort for p in action.params]
        for param, sort in zip(action.params, sorts, strict=True):
            if sort not in self.symmetry.sorts or sorts.count(sort) > 1:
                continue
            index = self.vars[param]
            onward = self.function.append_basic_block("onward")
            compare = self.function.append_basic_block("compare")
            first = self.b.icmp_signed("==", index, _constant(0))
            self.b.cbranch(first, onward, compare)
            self.b.position_at_end(compare)
            before = self.b.sub(index, _constant(1))
            same: ir.Value = ir.Constant(_I1, 1)
            for place, at, others in self.symmetry.twins(sort):
                for other in others:
                    head, tail = (
                        list(map(_constant, part)) for part in (other[:at], other[at:])
                    )
                    left, right = (
                        self.element(place, [*head, m, *tail]) for m in (before, index)
                    )
                    equal = self.b.icmp_signed("==", left, right)
                    same = self.b.and_(same, equal)
            self.b.cbranch(same, otherwise, onward)
            self.b.position_at_end(onward)

    def guards(self, parts: list[t.Term], otherwise: ir.Block) -> None:
        for part in parts:
            onward = self.function.append_basic_block("holds")
            self.b.cbranch(self.truth(part), onward, otherwise)
            self.b.position_at_end(onward)

    def successor(
        self, action: ActionTerm, first: int, step_claims: Sequence[t.Term]
    ) -> None:
        values = [None if w.whole else self.number(w.value) for w in action.writes]
        k = self.b.load(self.k)
        spots = [self.spot(self.out, k, _constant(w)) for w in range(self.layout.words)]
        for word, spot in zip(self.words, spots, strict=True):
            self.b.store(word, spot)
        for write, value in zip(action.writes, values, strict=True):
            self.write(write, value, k)
        self.bump(self.generated)
        differs: ir.Value = ir.Constant(_I1, 0)
        for word, spot in zip(self.words, spots, strict=True):
            changed = self.b.icmp_signed("!=", self.b.load(spot), word)
            differs = self.b.or_(differs, changed)
        with self.b.if_then(differs):
            dims = [self.system.sizes[p.type.sort] for p in action.params]
            event = self.flat([self.vars[p] for p in action.params], dims)
            event = self.b.add(event, _constant(first))
            self.b.store(event, self.at(self.acts, k))
            self.b.store(self.row, self.at(self.srcs, k))
            if not action.fault:
                self.bump(self.moves)
            for number, claim in enumerate(step_claims):
                self.step_claim(number, claim, k)
            self.bump(self.k)

    def step_claim(self, number: int, claim: t.Term, k: ir.Value) -> None:
        place = self.at(self.broken, _constant(2 * number))
        fresh = self.b.icmp_signed("<", self.b.load(place), _constant(0))
        with self.b.if_then(fresh), self.b.if_then(self.b.not_(self.truth(claim))):
            self.b.store(self.row, place)
            self.b.store(k, self.at(self.broken, _constant(2 * number + 1)))

    def write(self, write: Write, value: ir.Value | None, k: ir.Value) -> None:
        place = self.layout.placements[write.field]
        if value is not None:
            self.put(place, [self.number(i) for i in write.indices], value, k)
        elif isinstance(write.value, t.Const) and not place.split:
            clear, pattern = _repeated(
                place, encode(place.field.type, write.value.value)
            )
            spot = self.spot(self.out, k, _constant(place.word))
            kept = self.b.and_(self.b.load(spot), _constant(~clear))
            self.b.store(self.b.or_(kept, _constant(pattern)), spot)
        else:
            with self.members(write.vars):
                indices = [self.vars[v] for v in write.vars]
                self.put(place, indices, self.number(write.value), k)

    def put(
        self, place: Placement, indices: list[ir.Value], value: ir.Value, k: ir.Value
    ) -> None:
        word, shift = self.lies(place, indices)
        code = value
        if isinstance(place.field.type, IntType):
            code = self.b.sub(value, _constant(place.field.type.low))
        spot = self.spot(self.out, k, word)
        hole = self.b.not_(self.b.shl(_constant(place.mask), shift))
        kept = self.b.and_(self.b.load(spot), hole)
        self.b.store(self.b.or_(kept, self.b.shl(code, shift)), spot)

    # Terms --------------------------------------------------------------------

    def number(self, term: t.Term) -> ir.Value:
        """Emit a term as a 64-bit integer: numbers as they are, the rest coded."""
        if isinstance(term, t.Const):
            return _constant(_number(term))
        if isinstance(term, t.Var):
            return self.vars[term]
        if isinstance(term, t.Get):
            return self.get(term)
        if isinstance(term, t.Add):
            return self.b.add(self.number(term.left), self.number(term.right))
        if isinstance(term, t.Sub):
            return self.b.sub(self.number(term.left), self.number(term.right))
        if isinstance(term, t.Ite):
            then, orelse = self.number(term.then), self.number(term.orelse)
            return self.b.select(self.truth(term.test), then, orelse)
        if isinstance(term, t.Sum):
            total = self.cell(_constant(0))
            with self.members(term.vars):
                more = self.number(term.body)
                self.b.store(self.b.add(self.b.load(total), more), total)
            return self.b.load(total)
        return self.b.zext(self.truth(term), _I64)

    def truth(self, term: t.Term) -> ir.Value:
        """Emit a term as a truth value."""
        if isinstance(term, t.Const):
            return ir.Constant(_I1, int(bool(term.value)))
        if isinstance(term, t.Not):
            return self.b.not_(self.truth(term.body))
        if isinstance(term, t.And | t.Or):
            return self.join(term)
        if isinstance(term, t.Eq | t.Less):
            sign = "==" if isinstance(term, t.Eq) else "<"
            left, right = self.number(term.left), self.number(term.right)
            return self.b.icmp_signed(sign, left, right)
        if isinstance(term, t.Ite):
            then, orelse = self.truth(term.then), self.truth(term.orelse)
            return self.b.select(self.truth(term.test), then, orelse)
        if isinstance(term, t.ForAll | t.Exists):
            whole = self.uniform(term)
            return self.search(term) if whole is None else whole
        if isinstance(term, t.Get):
            return self.b.icmp_signed("!=", self.get(term), _constant(0))
        message = f"no native code for {type(term).__name__}"
        raise TypeError(message)

    def join(self, term: t.And | t.Or) -> ir.Value:
        combine: Callable[[ir.Value, ir.Value], ir.Value] = (
            self.b.and_ if isinstance(term, t.And) else self.b.or_
        )
        result = self.truth(term.parts[0])
        for part in term.parts[1:]:
            result = combine(result, self.truth(part))
        return result

    def search(self, term: t.ForAll | t.Exists) -> ir.Value:
        """Look at members until the first that settles the claim."""
        universal = isinstance(term, t.ForAll)
        found = self.cell(ir.Constant(_I1, int(universal)))
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
            self.b.store(ir.Constant(_I1, int(not universal)), found)
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
                wanted = _number(body.right)
            body = body.left
        elif isinstance(body, t.Get):
            wanted = 1
        if wanted is None or not isinstance(body, t.Get):
            return None
        place = self.layout.placements[body.field]
        if body.after or body.indices != term.vars or place.split:
            return None
        clear, pattern = _repeated(place, wanted)
        held = self.b.and_(self.words[place.word], _constant(clear))
        sign = "==" if universal else "!="
        return self.b.icmp_signed(sign, held, _constant(pattern))

    def get(self, get: t.Get) -> ir.Value:
        place = self.layout.placements[get.field]
        indices = [self.number(i) for i in get.indices]
        code = self.element(place, indices, after=get.after)
        if isinstance(place.field.type, IntType):
            return self.b.add(code, _constant(place.field.type.low))
        return code

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
        return self.b.and_(self.b.lshr(held, shift), _constant(place.mask))

    def lies(
        self, place: Placement, indices: list[ir.Value]
    ) -> tuple[ir.Value, ir.Value]:
        """Give the word and the shift of an element."""
        element = self.flat(indices, list(place.dims))
        bits = _constant(place.bits)
        if not place.split:
            shift = self.b.add(_constant(place.shift), self.b.mul(element, bits))
            return _constant(place.word), shift
        per_word = _constant(WORD_BITS // place.bits)
        word = self.b.add(_constant(place.word), self.b.udiv(element, per_word))
        return word, self.b.mul(self.b.urem(element, per_word), bits)

    def flat(self, indices: list[ir.Value], dims: list[int]) -> ir.Value:
        flat: ir.Value = _constant(0)
        for index, dim in zip(indices, dims, strict=True):
            flat = self.b.add(self.b.mul(flat, _constant(dim)), index)
        return flat


def _number(term: t.Const) -> int:
    if isinstance(term.type, BoolType | EnumType):
        return encode(term.type, term.value)
    return int(term.value)  # type: ignore[arg-type]


def _repeated(place: Placement, code: int) -> tuple[int, int]:
    """Give the bits of all elements, and those that hold ``code`` in each."""
    clear = pattern = 0
    for element in range(place.count):
        shift = place.spot(element)[1]
        clear |= place.mask << shift
        pattern |= code << shift
    return clear, pattern


def _has_loop(term: t.Term) -> bool:
    return any(isinstance(s, t.ForAll | t.Exists | t.Sum) for s in t.subterms(term))
