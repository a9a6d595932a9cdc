"""Native code from terms: a function that expands packed states, as LLVM's IR."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from llvmlite import ir

from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import encode, lowest
from onceproof.model.search.native.chosen_members import ChosenMembers, chosen_at_once
from onceproof.model.search.native.term_code import (
    I1,
    I64,
    TermEmitter,
    constant,
    repeated,
)
from onceproof.model.search.states.claim_flags import REST, bit_of, flag_words
from onceproof.model.search.states.layout import WORD_BITS
from onceproof.model.search.states.recent_filter import RECENT_BITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onceproof.model.language.stores.symbolic_store import FieldWrite
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.states.layout import Layout, Placement
    from onceproof.model.search.symmetry import Symmetry

_ROWS = I64.as_pointer()
_SCATTER = -0x61C8864680B583EB
"""An odd number whose products spread over all 64 bits."""


def instances(system: System, action: ActionTerm) -> int:
    """Count the events of an action, one for each tuple of members."""
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
    *,
    choosable: bool = False,
    sifting: bool = False,
) -> str:
    """Write ``expand``, which works out the successors of packed states.

    ``expand(states, lo, hi, out, acts, srcs, flags, broken, made)`` takes pointers
    to 64-bit integers. It looks at rows ``lo`` to ``hi`` of ``states``. It writes
    each successor that differs from its state to ``out``, the number of its event
    to ``acts`` and the row it came from to ``srcs``. It writes the flags of each row
    (see ``claim_flags.py``) to ``flags``, ``flag_words(len(claims))`` words a row; to
    ``broken[c]`` the first row and successor that break step claim ``c``; and to
    ``made`` how many successors it wrote and how many it generated, those that
    change nothing included. With ``symmetry``, of members that are in the same state
    the first acts for all. A ``choosable`` one takes one more pointer, ``allowed``, to
    a number for each action: it never happens where that is 0.

    One for ``sifting`` states of one word takes two more. If ``recent`` is not null it
    has room for ``1 << RECENT_BITS`` states: successors that it holds are left out, and
    the others are put there. Then ``taken`` is set for each event that changed a state,
    and nothing is written to ``acts`` and ``srcs``.
    """
    module = ir.Module("onceproof")
    names = ["states", "lo", "hi", "out", "acts", "srcs", "flags", "broken", "made"]
    names += ["allowed"] if choosable else []
    names += ["recent", "taken"] if sifting else []
    kinds = [I64 if name in {"lo", "hi"} else _ROWS for name in names]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), "expand")
    for argument, name in zip(function.args, names, strict=True):
        argument.name = name
        if isinstance(argument.type, ir.PointerType):
            argument.add_attribute("noalias")
    emitter = _Emitter(system, layout, function, symmetry)
    named = dict(zip(names, function.args, strict=True))
    emitter.allowed = named.get("allowed")
    emitter.recent = named.get("recent")
    emitter.taken = named.get("taken")
    emitter.body(claims, step_claims)
    return str(module)


class _Emitter(TermEmitter):
    """Emits the whole function: rows, actions, claims."""

    allowed: ir.Value | None
    recent: ir.Value | None
    taken: ir.Value | None

    # Frame --------------------------------------------------------------------

    def body(self, claims: Sequence[t.Term], step_claims: Sequence[t.Term]) -> None:
        self.k = self.cell(constant(0))
        self.generated = self.cell(constant(0))
        self.moves = self.cell(constant(0))
        with self.loop(self.lo, self.hi) as row:
            self.row = row
            self.words = [
                self.b.load(self.spot(self.states, row, constant(w)))
                for w in range(self.layout.words)
            ]
            self.b.store(constant(0), self.moves)
            self.learn(claims)
            first = 0
            for number, action in enumerate(self.system.actions):
                with self.where_allowed(number):
                    self.action(action, first, step_claims)
                first += instances(self.system, action)
            self.settle(claims)
        self.b.store(self.b.load(self.k), self.at(self.made, constant(0)))
        self.b.store(self.b.load(self.generated), self.at(self.made, constant(1)))
        self.b.ret_void()
        self.entry.branch(self.function.blocks[1])

    def learn(self, claims: Sequence[t.Term]) -> None:
        """Work out, once for the row, what several guards or claims ask of members."""
        self.known.clear()
        asked = Counter(
            term
            for one in [*(a.guard for a in self.system.actions), *claims]
            for term in dict.fromkeys(t.subterms(one))
            if isinstance(term, t.Quantified)
        )
        for term in [s for s, times in asked.items() if times > 1 and _closed(s)]:
            is_sum = isinstance(term, t.Sum)
            self.known[term] = self.number(term) if is_sum else self.truth(term)

    @contextmanager
    def where_allowed(self, number: int) -> Iterator[None]:
        """Emit what happens only where the action of that number is allowed."""
        if self.allowed is None:
            yield
            return
        allowed = self.b.load(self.at(self.allowed, constant(number)))
        with self.b.if_then(self.b.icmp_signed("!=", allowed, constant(0))):
            yield

    def settle(self, claims: Sequence[t.Term]) -> None:
        """Write the flags of the row."""
        width = flag_words(len(claims))
        words: list[ir.Value] = [constant(0)] * width
        resting = self.b.icmp_signed("==", self.b.load(self.moves), constant(0))
        truths = [(n, self.truth(c)) for n, c in enumerate(claims, REST + 1)]
        for number, truth in [(REST, resting), *truths]:
            word, bit = bit_of(number)
            wide = self.b.shl(self.b.zext(truth, I64), constant(bit))
            words[word] = self.b.or_(words[word], wide)
        first = self.b.mul(self.b.sub(self.row, self.lo), constant(width))
        for word, bits in enumerate(words):
            spot = self.at(self.flags, self.b.add(first, constant(word)))
            self.b.store(bits, spot)

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
        # Under symmetry the first of the members in one state acts for them.
        chosen = None if self.symmetry else chosen_at_once(self, action, inner)
        if chosen is not None:
            self.events_of_chosen(action, chosen, first, step_claims)
        else:
            self.events(action, inner, first, step_claims)
        self.b.branch(done)
        self.b.position_at_end(done)

    def events(
        self,
        action: ActionTerm,
        inner: Sequence[t.Term],
        first: int,
        step_claims: Sequence[t.Term],
    ) -> None:
        """Emit the events of an action, member by member."""
        with self.members(action.params):
            skip = self.function.append_basic_block("skip")
            self.first_of_twins(action, skip)
            self.guards(inner, skip)
            self.bump(self.generated)
            self.successor(action, first, step_claims)
            self.b.branch(skip)
            self.b.position_at_end(skip)

    def events_of_chosen(
        self,
        action: ActionTerm,
        chosen: ChosenMembers,
        first: int,
        step_claims: Sequence[t.Term],
    ) -> None:
        """Emit the events of those last members of an action that lanes choose."""
        with self.members(action.params[:-1]):
            skip = self.function.append_basic_block("skip")
            self.guards(chosen.before, skip)
            enabled = chosen.enabled()
            changing = enabled
            if chosen.counts:
                self.bump(self.generated, self.b.ctpop(enabled))
                changing = self.b.and_(enabled, chosen.changing())
            with self.lanes(changing, chosen.stride) as member:
                self.vars[chosen.var] = member
                onward = self.function.append_basic_block("onward")
                self.guards(chosen.one_by_one, onward)
                if not chosen.counts:
                    self.bump(self.generated)
                self.successor(action, first, step_claims)
                self.b.branch(onward)
                self.b.position_at_end(onward)
            self.b.branch(skip)
            self.b.position_at_end(skip)

    @contextmanager
    def lanes(self, bits: ir.Value, stride: int) -> Iterator[ir.Value]:
        """Run the block for each member whose lane is set, the first member first."""
        left = self.cell(bits)
        head = self.function.append_basic_block("head")
        inside = self.function.append_basic_block("body")
        end = self.function.append_basic_block("end")
        self.b.branch(head)
        self.b.position_at_end(head)
        now = self.b.load(left)
        self.b.cbranch(self.b.icmp_signed("!=", now, constant(0)), inside, end)
        self.b.position_at_end(inside)
        self.b.store(self.b.and_(now, self.b.sub(now, constant(1))), left)
        place = self.b.cttz(now, ir.Constant(I1, 1))
        yield self.b.udiv(place, constant(stride))
        self.b.branch(head)
        self.b.position_at_end(end)

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
            first = self.b.icmp_signed("==", index, constant(0))
            self.b.cbranch(first, onward, compare)
            self.b.position_at_end(compare)
            before = self.b.sub(index, constant(1))
            same: ir.Value = ir.Constant(I1, 1)
            for place, at, others in self.symmetry.twins(sort):
                for other in others:
                    head, tail = (
                        list(map(constant, part)) for part in (other[:at], other[at:])
                    )
                    left, right = (
                        self.element(place, [*head, m, *tail]) for m in (before, index)
                    )
                    equal = self.b.icmp_signed("==", left, right)
                    same = self.b.and_(same, equal)
            self.b.cbranch(same, otherwise, onward)
            self.b.position_at_end(onward)

    def guards(self, parts: Sequence[t.Term], otherwise: ir.Block) -> None:
        for part in parts:
            onward = self.function.append_basic_block("holds")
            self.b.cbranch(self.truth(part), onward, otherwise)
            self.b.position_at_end(onward)

    def successor(
        self, action: ActionTerm, first: int, step_claims: Sequence[t.Term]
    ) -> None:
        values = [None if w.whole else self.number(w.value) for w in action.writes]
        k = self.b.load(self.k)
        spots = [self.spot(self.out, k, constant(w)) for w in range(self.layout.words)]
        for word, spot in zip(self.words, spots, strict=True):
            self.b.store(word, spot)
        for write, value in zip(action.writes, values, strict=True):
            self.write(write, value, k)
        differs: ir.Value = ir.Constant(I1, 0)
        for word, spot in zip(self.words, spots, strict=True):
            changed = self.b.icmp_signed("!=", self.b.load(spot), word)
            differs = self.b.or_(differs, changed)
        with self.b.if_then(differs):
            dims = [self.system.sizes[p.type.sort] for p in action.params]
            event = self.flat([self.vars[p] for p in action.params], dims)
            event = self.b.add(event, constant(first))
            if not action.fault:
                self.bump(self.moves)
            for number, claim in enumerate(step_claims):
                self.step_claim(number, claim, k)
            self.keep(event, k)

    def keep(self, event: ir.Value, k: ir.Value) -> None:
        """Keep successor ``k``, and note where it is from, unless it is sifted out."""
        if self.recent is None or self.taken is None:
            self.note(event, k)
            return
        null = ir.Constant(_ROWS, None)
        with self.b.if_else(self.b.icmp_unsigned("!=", self.recent, null)) as (
            sifts,
            notes,
        ):
            with sifts:
                self.b.store(constant(1), self.at(self.taken, event))
                word = self.b.load(self.spot(self.out, k, constant(0)))
                place = self.at(self.recent, self.recent_place(word))
                fresh = self.b.icmp_signed("!=", self.b.load(place), word)
                self.b.store(word, place)
                self.b.store(self.b.add(k, self.b.zext(fresh, I64)), self.k)
            with notes:
                self.note(event, k)

    def recent_place(self, word: ir.Value) -> ir.Value:
        hashed = self.b.mul(word, constant(_SCATTER))
        return self.b.lshr(hashed, constant(WORD_BITS + 1 - RECENT_BITS))

    def note(self, event: ir.Value, k: ir.Value) -> None:
        self.b.store(event, self.at(self.acts, k))
        self.b.store(self.row, self.at(self.srcs, k))
        self.bump(self.k)

    def step_claim(self, number: int, claim: t.Term, k: ir.Value) -> None:
        place = self.at(self.broken, constant(2 * number))
        fresh = self.b.icmp_signed("<", self.b.load(place), constant(0))
        with self.b.if_then(fresh), self.b.if_then(self.b.not_(self.truth(claim))):
            self.b.store(self.row, place)
            self.b.store(k, self.at(self.broken, constant(2 * number + 1)))

    def write(self, write: FieldWrite, value: ir.Value | None, k: ir.Value) -> None:
        place = self.layout.placements[write.field]
        if value is not None:
            self.put(place, [self.number(i) for i in write.indices], value, k)
        elif isinstance(write.value, t.Const) and not place.split:
            clear, pattern = repeated(
                place, encode(place.field.type, write.value.value)
            )
            spot = self.spot(self.out, k, constant(place.word))
            kept = self.b.and_(self.b.load(spot), constant(~clear))
            self.b.store(self.b.or_(kept, constant(pattern)), spot)
        else:
            with self.members(write.vars):
                indices = [self.vars[v] for v in write.vars]
                self.put(place, indices, self.number(write.value), k)

    def put(
        self, place: Placement, indices: list[ir.Value], value: ir.Value, k: ir.Value
    ) -> None:
        word, shift = self.lies(place, indices)
        code = value
        if low := lowest(place.field.type):
            code = self.b.sub(value, constant(low))
        spot = self.spot(self.out, k, word)
        hole = self.b.not_(self.b.shl(constant(place.mask), shift))
        kept = self.b.and_(self.b.load(spot), hole)
        self.b.store(self.b.or_(kept, self.b.shl(code, shift)), spot)


def _closed(term: t.Term) -> bool:
    """Return whether a term speaks of no member but its own, and of no next state."""
    inner = list(t.subterms(term))
    bound = {v for s in inner if isinstance(s, t.Quantified) for v in s.vars}
    return not any(
        (isinstance(s, t.Var) and s not in bound) or (isinstance(s, t.Get) and s.after)
        for s in inner
    )


def _has_loop(term: t.Term) -> bool:
    return any(isinstance(s, t.ForAll | t.Exists | t.Sum) for s in t.subterms(term))
