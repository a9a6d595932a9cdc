"""A modeller's mistakes are found as the model is traced, with line and fix."""

from __future__ import annotations

from enum import Enum

import pytest

from onceproof.model.errors import ModelError, UsageError
from onceproof.model.language import (
    Member,
    Part,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    by_member,
    fault,
    not_,
    part,
    state,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict


class Light(Enum):
    """A type."""

    RED = 1
    GREEN = 2


class Base(Protocol):
    """What each mistake is made in."""

    R = Sort("thing")
    Q = Sort("other thing")
    flag = state(False)
    other = state(False)
    light = state(Light.RED)
    n = state(0, high=3)
    bit = state(False, per=R)


def _if(self):
    if self.flag:
        self.other = True


def _and(self):
    when(self.flag and self.other)


def _or(self):
    when(self.flag or self.other)


def _not(self):
    when(not self.flag)


def _ternary(self):
    self.n = 1 if self.flag else 0


def _chain(self):
    when(0 < self.n < 3)


def _filter(self):
    when(all_of(self.flag for r in self.R if self.bit[r]))


def _while(self):
    while self.flag:
        self.flag = False


def _late_guard(self):
    self.flag = True
    when(self.other)


def _twice(self):
    self.flag = True
    self.flag = False


def _type(self):
    self.light = True


def _compare(self):
    when(self.light == self.n)


def _overflow(self):
    self.n = self.n + 1


def _sort(self):
    when(any_of(self.bit[q] for q in self.Q))


def _loop(self):
    for r in self.R:
        self.bit[r] = True


def _whole(self):
    self.bit = True


def _identity(self):
    when(self.light is Light.RED)


def _hidden_identity(self):
    when(any_of(self.bit[r] is not self.flag for r in self.R))


def _unknown(self):
    self.flag = self.nowhere


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        (_if, "`if` cannot branch"),
        (_and, "use all_of(a, b)"),
        (_or, "use any_of(a, b)"),
        (_not, "use not_(a)"),
        (_ternary, "use if_else(c, a, b)"),
        (_chain, "chained comparison"),
        (_filter, "`if` in a comprehension"),
        (_while, "one action per turn"),
        (_late_guard, "a guard after an effect"),
        (_twice, "two values"),
        (_type, "light holds Light, not Bool"),
        (_compare, "the types differ"),
        (_overflow, "n holds 0..3, and this value may be 1..4"),
        (_sort, "indexed by R, not by member of Q"),
        (_loop, "must be inside all_of"),
        (_identity, "`is` would be decided now"),
        (_hidden_identity, "`is` would be decided now"),
        (_whole, ".fill(v)"),
    ],
)
def test_a_mistake_is_found_with_its_line_and_a_fix(body, fix):
    """Tracing refuses the model, and names the line and what to write instead."""
    kind = type("Wrong", (Base,), {"step": action(body)})

    with pytest.raises(ModelError) as caught:
        trace(kind())

    code = body.__code__
    lines = range(code.co_firstlineno, code.co_firstlineno + 4)
    assert fix in str(caught.value)
    assert caught.value.where in {f"{__file__}:{line}" for line in lines}


def test_a_guard_outside_an_action_is_refused():
    """``when`` has no meaning in a property."""
    with pytest.raises(ModelError, match="only there"):
        when(True)


def test_an_integer_without_a_bound_is_refused():
    """The bound of an integer state is part of its declaration."""
    kind = type("Unbounded", (Protocol,), {"n": state(0)})
    kind.__dict__["n"].__set_name__(kind, "n")

    with pytest.raises(ModelError, match="needs its bound"):
        kind()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"R": 0}, "1 to 64"), ({"R": "2"}, "whole number"), ({"X": 1}, "no parameter")],
)
def test_bad_parameters_are_refused(arguments, message):
    """Sizes and names are checked as a protocol is made."""
    with pytest.raises(UsageError, match=message):
        Base(**arguments)


class Row(Protocol):
    """Writes its first place and its last one, which may be the same."""

    S = Sort("place", size=2, ordered=True)
    mark = state(False, per=S)

    @action
    def sweep(self) -> None:
        """The second assignment wins where both are of one place."""
        self.mark[self.S.last] = True
        self.mark[self.S.first] = False

    @always
    def first_stays(self) -> bool:
        """Nothing marks the first place."""
        return not_(self.mark[self.S.first])


@pytest.mark.parametrize(("size", "states"), [(1, 1), (2, 2)])
def test_first_and_last_may_be_one_member(size, states):
    """A protocol is not refused at one size for what it says at all others."""
    found = check(Row(S=size))

    assert set(found.verdicts.values()) == {Verdict.EXHAUSTED}
    assert found.exploration.distinct == states


class Memory(Part):
    """A part with volatile and lasting state."""

    cache = state(0, high=3, volatile=True)
    disk = state(0, high=3)

    def save(self) -> None:
        """Write through."""
        self.cache = 3
        self.disk = self.cache


class Machine(Protocol):
    """Writes, and may die twice."""

    W = Sort("writer", size=2, ordered=True)
    memory = part(Memory)
    share = state(by_member(lambda w: w == 1), per=W)

    @action
    def save(self) -> None:
        """Save."""
        when(self.memory.disk == 0)
        self.memory.save()

    @fault(at_most=2)
    def crash(self) -> None:
        """Lose what is volatile."""
        self.lose_volatile()

    @action(per=W)
    def swap(self, w: Member) -> None:
        """Change one share."""
        when(not_(self.share[w]))
        self.share[w] = True


def test_a_read_after_a_write_sees_the_write():
    """Statements run in order, in terms as in Python."""
    reference = Interpreter(Machine())
    start = next(reference.initial_states())
    event = next(e for e in reference.events() if e.name == "save")

    after = reference.look(reference.after(start, event))

    assert after.memory.disk == 3


def test_a_crash_loses_what_is_volatile_and_no_more():
    """Volatile fields of parts go back to their initial values."""
    reference = Interpreter(Machine(faults=3))
    start = next(reference.initial_states())
    save, crash = (
        next(e for e in reference.events() if e.name == name)
        for name in ("save", "crash")
    )

    after = reference.look(reference.after(reference.after(start, save), crash))

    assert (after.memory.cache, after.memory.disk) == (0, 3)


@pytest.mark.parametrize(("budget", "crashes"), [(0, 0), (1, 1), (3, 2)])
def test_faults_keep_to_their_budgets(budget, crashes):
    """The smaller of the protocol's budget and the fault's own is the limit."""
    reference = Interpreter(Machine(faults=budget))
    state_ = next(reference.initial_states())
    crash = [e for e in reference.events() if e.name == "crash"]

    taken = 0
    while crash and (after := reference.after(state_, crash[0])) is not None:
        state_, taken = after, taken + 1

    assert taken == crashes


def test_a_start_may_depend_on_the_member():
    """``by_member`` gives each element its own start."""
    reference = Interpreter(Machine())

    look = reference.look(next(reference.initial_states()))

    assert [look.share[w] for w in look.W] == [False, True]


class Wide(Protocol):
    """A state of more than two words."""

    W = Sort("bit", size=6)
    bits = state(False, per=(W, W, W))
    seen = state(False, per=W)

    @action(per=W)
    def mark(self, w: Member) -> None:
        """Mark a member, and its own corner."""
        when(not_(self.seen[w]))
        self.seen[w] = True
        self.bits[w, w, w] = True


def test_states_over_64_bits_are_searched():
    """216 bits and more: every subset of the six is reached once."""
    report = check(Wide())

    found = report.exploration

    assert found is not None
    assert (found.distinct, found.depth) == (64, 7)
