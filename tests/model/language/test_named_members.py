"""A member that is named, and a size that is asked for, are seen by every reader."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from onceproof.model.errors import ModelError, UsageError
from onceproof.model.interleavings.durable_state import names_of
from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.language import (
    Member,
    Part,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    at_rest,
    epochs,
    eventually,
    fault,
    if_else,
    not_,
    observe,
    part,
    processes,
    state,
    total,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.substitution import free_variables, rename_apart
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.symmetry import interchangeable
from onceproof.model.search.visited_states import VisitedStates
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.ledger import observe_states
from onceproof.properties.property import Clause, Property
from onceproof.properties.verdicts import Verdict


class Lamps(Protocol):
    """Lamps that are lit in any order, and may go out."""

    L = Sort("lamp", size=3)

    lit = state(False, per=L)

    @action(per=L)
    def light(self, lamp: Member) -> None:
        """Light a lamp."""
        when(not_(self.lit[lamp]))
        self.lit[lamp] = True

    @fault(per=L)
    def fail(self, lamp: Member) -> None:
        """A lamp that is lit goes out."""
        when(self.lit[lamp])
        self.lit[lamp] = False


FIRST = Member(0, Lamps.L)
LAST = Member(2, Lamps.L)


class ClaimNames(Lamps):
    """Claims something of the first lamp alone."""

    @always
    def first_is_not_alone(self) -> bool:
        """The first lamp is not lit before the others."""
        return any_of(not_(self.lit[FIRST]), self.lit[LAST])


class RestNames(Lamps):
    """Names a lamp in a claim about rest."""

    @fault
    def sticks(self) -> None:
        """The last lamp cannot be lit any more, for it is lit for good."""
        self.lit[LAST] = True

    @at_rest
    def first_is_lit(self) -> bool:
        """The first lamp is lit at last."""
        return self.lit[FIRST]


class ActionNames(Lamps):
    """The first lamp waits for no other, and the others for it."""

    @action
    def out(self) -> None:
        """The first lamp is put out once all are lit."""
        when(all_of(self.lit[x] for x in self.L))
        self.lit[FIRST] = False

    @always
    def some_order(self) -> bool:
        """Some lamp is dark, or all are lit."""
        return any_of(not_(self.lit[x]) for x in self.L)


class ObservationNames(Lamps):
    """Only the first lamp shows."""

    @observe(per=Lamps.L)
    def visible(self, lamp: Member) -> bool:
        """Only the first lamp is seen."""
        return all_of(self.lit[lamp], lamp == FIRST)

    @observe(per=Lamps.L)
    def promised(self, lamp: Member) -> bool:
        """Every lamp is promised, once it is lit."""
        return self.lit[lamp]


class FairNames(Lamps):
    """Claims of each lamp on its own that it is lit: none is named apart."""

    @eventually(per=Lamps.L)
    def is_lit(self, lamp: Member) -> bool:
        """The lamp is lit at last."""
        return self.lit[lamp]


NAMING = [ClaimNames, RestNames, ActionNames, ObservationNames]


@pytest.mark.parametrize("kind", NAMING)
def test_a_sort_of_which_a_member_is_named_is_not_interchangeable(kind):
    """Wherever it is named; neither for symmetry nor for classes of interleavings."""
    system = trace(kind())

    assert interchangeable(system) == []
    assert len(names_of(system)) == 1
    with pytest.raises(UsageError, match="a member of L is named by its number"):
        check(kind(), symmetry=True)


@pytest.mark.parametrize("kind", [Lamps, FairNames])
def test_a_sort_of_which_none_is_named_is_interchangeable(kind):
    """A claim that is made of each member names none of them."""
    system = trace(kind())

    assert interchangeable(system) == [Lamps.L]
    assert len(names_of(system)) == 6


def test_a_claim_from_elsewhere_names_a_member_too():
    """A property that a caller hands over is looked at like one of the protocol's."""
    clause = Clause("always", "the last lamp is dark", lambda p: not_(p.lit[LAST]))
    prop = Property("last-is-dark", (clause,), own=True)

    assert check(Lamps(), [prop]).verdicts["last-is-dark"] is Verdict.REFUTED
    with pytest.raises(UsageError, match="a member of L is named by its number"):
        check(Lamps(), [prop], symmetry=True)


def test_classes_of_interleavings_keep_every_history():
    """What readers see of some class is all that they see of any run."""
    protocol = ObservationNames()
    reference = Interpreter(protocol)

    def seen(states: Any) -> Any:
        named = {f"{i}": s for i, s in enumerate(dict.fromkeys(states))}
        return observe_states(reference, named).rows

    found = {seen([one.trace.states[-1]]) for one in interleavings(protocol).classes}
    every = set()
    todo = [(s, False) for s in reference.initial_states()]
    for before, harmed in todo:
        if harmed and reference.resting(before):
            every.add(seen([before]))
        for event, after in reference.successors(before):
            if after != before and (after, harmed or event.fault) not in todo:
                todo.append((after, harmed or event.fault))

    assert found == every


class Sizes(Protocol):
    """Counts voters, in a way that is chosen."""

    V = Sort("voter", size=2)

    voted = state(False, per=V)
    passed = state(False)

    def size(self) -> int:
        """How many voters there are."""
        return 0

    @action(per=V)
    def vote(self, v: Member) -> None:
        """Vote; with more than three voters the vote passes at once."""
        self.voted[v] = True
        self.passed = any_of(self.passed, self.size() > 3)

    @always
    def never_passes(self) -> bool:
        """It takes four voters to pass, and there are two."""
        return not_(self.passed)


class ByLength(Sizes):
    """Asks for the length."""

    def size(self) -> int:
        """Count the members."""
        return len(self.V)


class ByMapping(Sizes):
    """Asks the sizes."""

    def size(self) -> int:
        """Look it up."""
        return self.sizes[Sizes.V]


class ByValues(Sizes):
    """Asks for all sizes."""

    def size(self) -> int:
        """Look through all of them."""
        return max(dict(self.sizes).values())


class ByStealth(Sizes):
    """Looks where nobody is told."""

    def size(self) -> int:
        """Take it from where the language keeps it."""
        return self._sizes[Sizes.V] + 2


@pytest.mark.parametrize("kind", [ByLength, ByMapping, ByValues, ByStealth])
def test_a_model_that_finds_out_a_size_is_not_proved_for_every_size(kind):
    """By whatever way it does; with four voters the claim is false."""
    found = prove(kind(), claims_of(kind())).findings[0]

    assert found.verdict is not Verdict.PROVED
    assert "uses the number of members of V" in found.note


def test_a_model_that_asks_for_no_size_is_proved_for_every_size():
    """The others above are held back for what they ask alone."""
    found = prove(Sizes(), claims_of(Sizes())).findings[0]

    assert found.verdict is Verdict.PROVED


class Inside(Protocol):
    """Reads a field at an index that is worked out from the same field."""

    N = Sort("number", size=3, ordered=True)

    link = state(False, per=(N, N))
    big = state(False, per=N)
    found = state(False)

    @action(per=(N, N))
    def tie(self, a: Member, b: Member) -> None:
        """Tie two numbers, and look whether one is tied that is tied itself."""
        self.link[a, b] = True
        self.big.set(lambda x: any_of(self.link[x, y] for y in self.N))
        at = if_else(self.big[a], b, a)
        self.found = all_of(
            any_of(self.big[at], self.link[z, b], not_(self.big[z])) for z in self.N
        )

    @always
    def finds(self) -> bool:
        """Whether it was found."""
        return not_(self.found)


def test_a_quantifier_that_is_put_into_itself_has_names_of_its_own():
    """Native code, which keeps a place for each name, does as plain Python does."""
    system = trace(Inside())
    reference = Interpreter(system.protocol)
    graph = VisitedStates(system)
    pack, unpack = graph.layout.pack, graph.layout.unpack
    states = list(reference.initial_states())
    for before in itertools.islice(states, 60):
        graph.states[0] = pack(before)
        made = graph.expand(0, 1)
        native = {
            (graph.events[e], unpack(w))
            for e, w in zip(made.events.tolist(), made.states.tolist(), strict=True)
        }
        plain = {(e, s) for e, s in reference.successors(before) if s != before}
        assert native == plain
        states += [s for _, s in sorted(plain, key=str) if s not in states]

    for term in system.actions[0].terms:
        assert nested(term) == []


def nested(term: t.Term, around: frozenset[t.Var] = frozenset()) -> list[t.Var]:
    """List the variables that are bound where they are bound already."""
    mine = frozenset(term.vars if isinstance(term, t.Quantified) else ())
    inner = (nested(child, around | mine) for child in t.children(term))
    return [*(mine & around), *itertools.chain.from_iterable(inner)]


def test_names_are_kept_apart_where_terms_are_put_together():
    """The same variable bound twice, one inside the other, is two."""
    var = t.Var("x", t.MemberType(Inside.N))
    get = t.Get("big", (var,), t.BOOL)
    inner = t.Exists((var,), get)
    term = t.ForAll((var,), t.And((inner, get)))

    found = rename_apart(term)

    assert nested(term) == [var]
    assert nested(found) == []
    assert free_variables(found) == frozenset()


class Process(Protocol):
    """Processes that crash or stop, and are restarted without a thought."""

    P = Sort("process", size=2)

    run = processes(P, crashes=1, stops=1)
    restarted = state(False, per=P)

    @action(per=P)
    def revive(self, p: Member) -> None:
        """Restart, whatever has happened."""
        self.restarted[p] = True
        self.run.restart(p)

    @always
    def what_has_stopped_stays_so(self) -> bool:
        """Nothing that was restarted had stopped, and nothing that is up was."""
        return all_of(
            any_of(not_(self.restarted[p]), not_(self.run.stopped(p))) for p in self.P
        )


def test_a_restart_leaves_alone_what_has_stopped_for_good():
    """It waits for a process that is down, and for nothing else."""
    protocol = Process(faults=2, P=1)
    reference = Interpreter(protocol)
    states = dict.fromkeys(reference.initial_states())
    for before in (todo := list(states)):
        for event, after in reference.successors(before):
            if event.name == "revive":
                assert reference.look(before).run.down(Member(0, Process.P))
            if after not in states:
                states[after] = None
                todo.append(after)

    assert any(reference.look(s).run.stopped(Member(0, Process.P)) for s in states)


class Fenced(Protocol):
    """As many epochs as there are processes."""

    P = Sort("process", size=3)

    term = epochs(P, high=P)

    @action(per=P)
    def next(self, p: Member) -> None:
        """Begin a new epoch."""
        self.term.next(p)

    @always
    def is_bounded(self) -> bool:
        """At most one for each process."""
        return all_of(self.term.current(p) <= 2 for p in self.P)


@pytest.mark.parametrize(("size", "holds"), [(2, True), (3, False)])
def test_epochs_are_bounded_by_the_size_of_a_sort(size, holds):
    """As the documentation says they may be."""
    found = check(Fenced(P=size)).verdicts["is-bounded"]

    assert found is (Verdict.EXHAUSTED if holds else Verdict.REFUTED)


class Ledgers(Part):
    """Many large numbers."""

    R = Sort("row", size=4)

    rows = state(0, per=R, high=2**50)


class Large(Protocol):
    """Adds large numbers up."""

    R = Ledgers.R

    ledger = part(Ledgers)

    @action(per=R)
    def fill(self, r: Member) -> None:
        """Fill a row."""
        self.ledger.rows[r] = 2**50

    @always
    def sum_is_small(self) -> bool:
        """The rows add up to little."""
        return total(self.ledger.rows[r] for r in self.R) < 2**50 + 1


def test_large_numbers_are_added_right_or_refused():
    """No sum goes round in 64 bits: up to 2**53 it is exact, and then refused."""
    assert check(Large(R=4)).verdicts["sum-is-small"] is Verdict.REFUTED
    with pytest.raises(ModelError, match="a number may reach 10133099161583616 here"):
        check(Large(R=9))
