"""What is worked out for all members at once is what each member alone is worth."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    fault,
    member_of,
    state,
    step,
    when,
)
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import (
    BoolType,
    EnumType,
    IntType,
    MemberType,
    member,
)
from onceproof.model.language.tracing.evaluation import Meaning
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.native import chosen_members, term_code
from onceproof.model.search.native.expander import expander_ir
from onceproof.model.search.queries import SearchQuery
from onceproof.model.search.states.layout import Layout
from onceproof.model.search.visited_states import VisitedStates
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict


class Colour(Enum):
    """A type of three values, which need two bits."""

    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Shelf(Protocol):
    """One field of each kind, and actions that choose members in every way."""

    S = Sort("thing", size=3)
    P = Sort("place", size=2)

    lit = state(False, per=S)
    shut = state(False, per=S)
    shows = state(Colour.RED, per=S)
    paint = state(Colour.RED, per=S)
    level = state(0, low=-1, high=2, per=S)
    depth = state(0, low=-1, high=2, per=S)
    weight = state(0, high=6, per=S)
    pair = state(False, per=(S, P))
    back = state(False, per=(P, S))
    mark = state(False, per=P)
    owner = state(member_of(S), per=P)
    number = state(0, low=-1, high=2)
    colour = state(Colour.RED)

    @action(per=S)
    def light(self, s: Member) -> None:
        """Condition and write lie alike."""
        when(self.shut[s])
        self.lit[s] = True

    @action(per=S)
    def colour_in(self, s: Member) -> None:
        """They lie apart, and more than one thing is written."""
        when(self.lit[s], self.shows[s] != self.colour)
        self.shows[s] = self.colour
        self.lit[s] = False

    @action(per=S)
    def sink(self, s: Member) -> None:
        """One condition compares numbers, which is done member by member."""
        when(self.level[s] < self.depth[s], self.shows[s] == Colour.RED)
        self.level[s] = self.depth[s]

    @action(per=S)
    def paint_over(self, s: Member) -> None:
        """There is no condition at all."""
        self.paint[s] = Colour.BLUE

    @action(per=(P, S))
    def give(self, o: Member, s: Member) -> None:
        """The member that acts is the second of two."""
        when(self.mark[o], self.back[o, s] == self.lit[s])
        self.back[o, s] = True
        self.number = 1

    @action(per=(S, P))
    def take(self, s: Member, o: Member) -> None:
        """Elements of one row are written, one of them by what another holds."""
        when(self.lit[s], self.pair[s, o])
        self.pair[s, o] = False
        self.shut[self.owner[o]] = True

    @fault(per=S)
    def drop_all(self, s: Member) -> None:
        """Each element is written."""
        when(self.paint[s] == Colour.RED)
        self.back.fill(False)
        self.paint[s] = Colour.GREEN

    @action(per=S)
    def write_twice(self, s: Member) -> None:
        """What is written first is written over."""
        when(self.shut[s])
        self.level[s] = 1
        self.depth[s] = self.level[s]
        self.level[s] = self.number

    @step
    def levels_stay(self, after: Shelf) -> bool:
        """A claim about steps."""
        return self.number == after.number


SYSTEM = trace(Shelf())
REFERENCE = Interpreter(Shelf())
S, P = Shelf.S, Shelf.P
TYPES = {f.path: f.type for f in SYSTEM.fields}
SORTS = {f.path: f.sorts for f in SYSTEM.fields}


def variable(sort: Any, depth: int) -> t.Var:
    """Name a variable by its depth."""
    return t.Var(f"v{depth}", MemberType(sort))


@st.composite
def elements(draw: Any, scope: tuple[t.Var, ...], kind: type) -> Any:
    """Draw an element of a type; None if there is none in scope."""
    ready = [
        path
        for path, sorts in SORTS.items()
        if isinstance(TYPES[path], kind)
        and all(any(v.type.sort == s for v in scope) for s in sorts)
    ]
    if not ready:
        return None
    path = draw(st.sampled_from(ready))
    indices = []
    for sort in SORTS[path]:
        known = [v for v in scope if v.type.sort == sort]
        owners = [v for v in scope if v.type.sort == P]
        if sort == S and owners and draw(st.integers(0, 4)) == 0:
            owner = draw(st.sampled_from(owners))
            indices.append(t.Get("owner", (owner,), TYPES["owner"]))
        else:
            indices.append(draw(st.sampled_from(known)))
    return t.Get(path, tuple(indices), TYPES[path])


@st.composite
def numbers(draw: Any, scope: tuple[t.Var, ...]) -> Any:
    """Draw a number, one beyond what a field can hold among them."""
    if draw(st.integers(0, 3)) == 0:
        return t.integer(draw(st.integers(-3, 8)))
    return draw(elements(scope, IntType)) or t.integer(1)


@st.composite
def claims(draw: Any, scope: tuple[t.Var, ...] = (), depth: int = 4) -> Any:
    """Draw a claim."""
    kinds = ["truth", "equal", "colours", "less"]
    if depth:
        kinds += ["not", "and", "or", "ite", "every", "some", "every", "some"]
        kinds += ["sum", "sum"]
    kind = draw(st.sampled_from(kinds))
    inner = claims(scope, depth - 1) if depth else st.none()
    if kind == "truth":
        return draw(elements(scope, BoolType)) or t.TRUE
    if kind in ("equal", "less"):
        join = t.Eq if kind == "equal" else t.Less
        return join(draw(numbers(scope)), draw(numbers(scope)))
    if kind == "colours":
        left = draw(elements(scope, EnumType))
        right = draw(elements(scope, EnumType) if draw(st.booleans()) else st.none())
        constant = t.Const(draw(st.sampled_from(Colour)), TYPES["colour"])
        return t.Eq(left, right or constant)
    if kind == "not":
        return t.negation(draw(inner))
    if kind in ("and", "or"):
        join = t.conjunction if kind == "and" else t.disjunction
        return join([draw(inner), draw(inner)])
    if kind == "ite":
        return t.Ite(draw(inner), draw(inner), draw(inner))
    most = 1 if kind == "sum" else 2
    sorts = draw(st.lists(st.sampled_from([S, P]), min_size=1, max_size=most))
    bound = tuple(variable(s, len(scope) + n) for n, s in enumerate(sorts))
    body = draw(claims((*scope, *bound), depth - 1))
    if kind == "sum":
        few, many = draw(st.integers(-1, 2)), draw(numbers(scope))
        total = t.Sum(bound, t.Ite(body, many, t.integer(few)))
        return t.Eq(total, draw(numbers(scope)))
    return t.quantified(t.ForAll if kind == "every" else t.Exists, bound, body)


def random_states(number: int, seed: int) -> list[Any]:
    """Draw states, most of which are out of reach."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        plain = []
        for field, _ in REFERENCE.places:
            values = field.type
            if isinstance(values, BoolType):
                plain.append(bool(random.integers(2)))
            elif isinstance(values, EnumType):
                plain.append(list(Colour)[random.integers(3)])
            elif isinstance(values, IntType):
                plain.append(int(random.integers(values.low, values.high + 1)))
            else:
                plain.append(member(int(random.integers(3)), S))
        found.append(tuple(plain))
    return found


def by_native_code(claim: t.Term, states: list[Any]) -> list[bool]:
    """Work a claim out in compiled code."""
    graph = VisitedStates(SYSTEM, [SearchQuery("asked", Modality.ALWAYS, claim)])
    rows = np.array([graph.layout.pack(plain) for plain in states], np.int64)
    return graph.expand_rows(rows).flags.holds(claim).tolist()


def by_meaning(claim: t.Term, states: list[Any]) -> list[bool]:
    """Work a claim out member by member, in Python."""
    worth = Meaning(SYSTEM.sizes).of(claim)
    found = []
    for plain in states:
        values: dict[str, dict[Any, Any]] = {}
        for (field, place), value in zip(REFERENCE.places, plain, strict=True):
            values.setdefault(field.path, {})[place] = value
        found.append(bool(worth({}, values, values)))
    return found


@settings(derandomize=True, deadline=None, max_examples=150)
@given(claims(), st.integers(0, 1000))
def test_a_claim_is_worth_the_same_at_once_as_member_by_member(claim, seed):
    """Truths, choices, equal elements, numbers beyond a field, sums, two sorts."""
    states = random_states(12, seed)

    assert by_native_code(claim, states) == by_meaning(claim, states)


def test_those_claims_are_worked_out_at_once_in_every_way(monkeypatch):
    """Otherwise what is compared is the long way alone."""
    ways = dict.fromkeys(["lanes", "taken_apart", "one_by_one", "counted"], 0)

    def watched(name):
        plain = getattr(owner, method)

        def counting(*arguments):
            answer = plain(*arguments)
            ways[name] += answer is not None
            return answer

        return counting

    for name, owner, method in [
        ("lanes", term_code.MemberLanes, "claim"),
        ("taken_apart", term_code.TermEmitter, "taken_apart"),
        ("one_by_one", term_code.TermEmitter, "one_by_one"),
        ("counted", term_code.TermEmitter, "counted"),
    ]:
        monkeypatch.setattr(owner, method, watched(name))

    @settings(derandomize=True, deadline=None, max_examples=60)
    @given(claims())
    def compile_each(claim):
        by_native_code(claim, random_states(1, 1))

    compile_each()
    assert min(ways.values()) > 2, ways


def test_an_action_of_chosen_members_takes_the_steps_of_each():
    """Successors in their order, their events, and how many change nothing."""
    graph = VisitedStates(SYSTEM)
    moved = set()
    for plain in random_states(400, 7):
        made = graph.expand_rows(np.array([graph.layout.pack(plain)], np.int64))
        native = [
            (graph.events[event], graph.layout.unpack(words))
            for event, words in zip(
                made.events.tolist(), made.states.tolist(), strict=True
            )
        ]
        every = list(REFERENCE.successors(plain))
        assert made.generated == len(every)
        assert native == [(event, after) for event, after in every if after != plain]
        assert made.flags.rests[0] == REFERENCE.resting(plain)
        moved |= {event.name for event, _ in native}
    assert moved == {name.name for name in SYSTEM.actions}


def test_those_actions_choose_their_members_in_every_way(monkeypatch):
    """By lanes alone, by lanes first, and one by one."""
    found: dict[str, Any] = {}
    plain = chosen_members.chosen_at_once

    def watched(emitter, action, conditions):
        found[action.name] = plain(emitter, action, conditions)
        return found[action.name]

    monkeypatch.setattr(
        "onceproof.model.search.native.expander.chosen_at_once", watched
    )
    VisitedStates(SYSTEM, [SearchQuery("asked", Modality.ALWAYS, t.TRUE)])

    assert {name for name, chosen in found.items() if chosen and chosen.counts} == {
        "light",
        "paint_over",
        "give",
    }
    assert {name for name, c in found.items() if c and c.one_by_one} >= {"sink"}
    assert all(chosen is not None for chosen in found.values())


class Crowded(Protocol):
    """Three guards and a claim ask the same of all members, which has no lanes."""

    S = Sort("thing", size=3)

    level = state(0, low=0, high=2, per=S)
    lit = state(False, per=S)

    def all_low(self) -> object:
        """Ask it."""
        return all_of(self.level[s] < 2 for s in self.S)

    @action(per=S)
    def light(self, s: Member) -> None:
        """Light one."""
        when(self.all_low())
        self.lit[s] = True

    @action(per=S)
    def quench(self, s: Member) -> None:
        """Quench one."""
        when(self.all_low(), self.lit[s])
        self.lit[s] = False

    @action(per=S)
    def lift(self, s: Member) -> None:
        """Lift one."""
        when(self.all_low(), self.level[s] < 2)
        self.level[s] += 1

    @always
    def something(self) -> bool:
        """The claim that asks it, too."""
        return self.all_low() | any_of(self.level[s] == 2 for s in self.S)


def test_what_several_guards_ask_of_members_is_worked_out_once():
    """In the code of all events there is one loop that looks for a member."""
    system = trace(Crowded())

    code = expander_ir(system, Layout(system.fields, system.sizes), [], [])

    assert len(re.findall(r'^"?settled[.\d]*"?:', code, re.MULTILINE)) == 1
    (finding,) = check(Crowded()).findings
    assert finding.verdict is Verdict.EXHAUSTED
