"""z3 proves nothing that is false: held against plain Python."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from onceproof.model.errors import Disagreement, ModelError
from onceproof.model.language import (
    Protocol,
    Sort,
    action,
    always,
    any_of,
    at_rest,
    if_else,
    leads_to,
    not_,
    sometimes,
    state,
    step,
    when,
)
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.terms import terms as t
from onceproof.model.language.tracing.rest import rests
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.exhaustive import explore
from onceproof.model.search.queries import SearchQuery
from onceproof.model.search.simulation import simulate as random_walks
from onceproof.properties.judges.by_proof import confirm, fragment, induction, prove
from onceproof.properties.judges.by_proof.bounded import check_bounded
from onceproof.properties.judges.by_proof.claims import ask, renamed
from onceproof.properties.judges.by_proof.fragment import before_of
from onceproof.properties.judges.by_search import Report, check, simulate
from onceproof.properties.property import own_properties
from onceproof.properties.verdicts import Verdict
from tests.model.random_protocols import protocols
from tests.properties.plain import Values, settled, states_of
from tests.properties.tricky import EFFECTS, protocol

walk = functools.partial(random_walks, walks=1, depth=1, seed=0)
SETTINGS = settings(
    derandomize=True,
    deadline=None,
    max_examples=40,
    suppress_health_check=list(HealthCheck),
)
SOME = tuple(
    effect if number % 3 == 0 else pytest.param(effect, marks=pytest.mark.grid)
    for number, effect in enumerate(EFFECTS)
)


class Lamp(Protocol):
    """A lamp that is switched, in a room with things that have no part in it."""

    THING = Sort("thing")

    on = state(False)

    @action
    def switch(self) -> None:
        """On is off, and off is on."""
        self.on = not_(self.on)

    @always
    def never_on(self) -> bool:
        """The lamp is never on, which is false."""
        return not_(self.on)


class BareLamp(Protocol):
    """The same in an empty room."""

    on = state(False)

    switch = Lamp.switch
    never_on = Lamp.never_on


class HandedDown(Protocol):
    """A number is handed on, and what it was taken from is cleared."""

    a = state(0, high=1)
    b = state(0, high=1)
    c = state(1, high=1)

    @action
    def hand_down(self) -> None:
        """Take the number."""
        self.a = self.c
        self.c = 0

    @always
    def nothing_there(self) -> bool:
        """There is nothing in a or b, which is false."""
        return self.a + self.b == 0


class Chosen(Protocol):
    """A value that is chosen from others, which are overwritten."""

    a = state(False)
    b = state(False)
    c = state(True)

    @action
    def choose(self) -> None:
        """Take one of two values."""
        self.a = if_else(self.b, self.a, self.c)
        self.c = self.b

    @always
    def never_a(self) -> bool:
        """A never comes true, which is false."""
        return not_(self.a)


class Idle(Protocol):
    """An action that can always be taken, and changes something but once."""

    THING = Sort("thing")

    done = state(False, per=THING)
    over = state(False)

    @action
    def finish(self) -> None:
        """It is over."""
        self.over = True

    @step
    def only_ever_ends(self, after: Idle) -> bool:
        """Every step leads from before the end to after it: true of changes alone."""
        return not_(self.over) & after.over

    @step
    def never_ends(self, after: Idle) -> bool:
        """No step ends it, which is false."""
        return not_(after.over)


class Stuck(Protocol):
    """An action that is possible, and never changes anything."""

    a = state(False)
    b = state(True)

    @action
    def touch(self) -> None:
        """Leave everything as it is."""
        self.a = self.a & self.b

    @step
    def grows(self, after: Stuck) -> bool:
        """A claim about steps, of which there are none."""
        return after.b

    @step
    def shrinks(self, after: Stuck) -> bool:
        """Another, which no step could satisfy."""
        return not_(after.b)


class Restless(Protocol):
    """A lamp that is switched for ever, and claims about what never happens."""

    on = state(False)
    broken = state(False)

    @action
    def switch(self) -> None:
        """On is off, and off is on."""
        self.on = not_(self.on)

    @action
    def repair(self) -> None:
        """What is broken is repaired; nothing ever breaks."""
        when(self.broken)
        self.broken = False

    @at_rest
    def whole(self) -> bool:
        """At rest the lamp is whole; it never rests."""
        return not_(self.broken)

    @sometimes
    def is_broken(self) -> bool:
        """The lamp can break, which it cannot."""
        return self.broken

    @leads_to()
    def is_repaired(self) -> tuple[bool, bool]:
        """What is broken is repaired; nothing is ever broken."""
        return self.broken, not_(self.broken)

    @leads_to()
    def is_switched_off(self) -> tuple[bool, bool]:
        """A lamp that is on is switched off at last, or stays on."""
        return self.on, any_of(self.on, not_(self.on))


class Queue(Protocol):
    """Numbered turns, of which only the first ever comes up."""

    TURN = Sort("turn", size=3, ordered=True)

    waits = state(False, per=TURN)

    @action
    def come(self) -> None:
        """The first comes."""
        self.waits[self.TURN.first] = True

    @leads_to(per=TURN)
    def is_served(self, turn: Any) -> tuple[bool, bool]:
        """Whoever waits is served, or still waits."""
        return self.waits[turn], self.waits[turn]

    @leads_to(per=TURN)
    def is_sent_away(self, turn: Any) -> tuple[bool, bool]:
        """Whoever waits is sent away, which nobody ever is."""
        return self.waits[turn], not_(self.waits[turn])


@pytest.mark.parametrize("lamp", [Lamp, BareLamp, HandedDown, Chosen])
def test_a_claim_that_one_step_breaks_is_refuted(lamp: type[Protocol]) -> None:
    """Where an effect reads what it overwrites, z3 sees it as Python does."""
    found = prove(lamp()).findings[0]

    assert found.verdict is Verdict.REFUTED
    assert found.trace is not None
    assert len(found.trace.steps) == 1
    assert not check(lamp()).findings[0].verdict.holds


@pytest.mark.parametrize("effect", SOME)
def test_z3_and_the_search_say_what_plain_python_says(effect: Any) -> None:
    """Of tricky effects both judges refute what is false, and hold what is true."""
    drawn = protocol(effect)
    known = settled(drawn)
    assert known is not None

    proved, searched = prove(drawn, depth=2), check(drawn)

    for one, other in zip(proved.findings, searched.findings, strict=True):
        name = one.property.name
        assert other.verdict.holds == (known[name] == "holds"), name
        assert (other.verdict is Verdict.REFUTED) == (known[name] == "refuted"), name
        if one.verdict is not Verdict.UNDECIDED:
            assert one.verdict.holds == (known[name] == "holds"), name
            assert (one.verdict is Verdict.REFUTED) == (known[name] == "refuted"), name
        else:
            assert "no state of rest within" in one.note
    general = {
        f.property.name
        for f in proved.findings
        if f.verdict.holds and f.bounds.startswith("every number")
    }
    for things in (1, 3):
        small = settled(protocol(effect, things=things))
        assert small is not None
        assert not [name for name in general if small[name] == "refuted"]


def compare_before(made: Any, *, most: int) -> int:
    """Compare claims before each step with claims after it; give how many there were.

    The one is a term, worked out by the book; the other is Python, run on values.
    """
    reference = Interpreter(made)
    system = trace(made)
    asked = [
        (one, one.when == "step", renamed(one.question.term, "~"))
        for prop in own_properties(made)
        if not any(c.when in ("leads_to", "eventually") for c in prop.clauses)
        for one in ask(prop, system)
    ]
    found = {
        taken.name: [before_of(system, taken, term, steps=s) for _, s, term in asked]
        for taken in system.actions
    }
    params = {taken.name: taken.params for taken in system.actions}
    resting = rests(system)
    compared = 0
    for before in itertools.islice(states_of(reference), most):
        values = Values(reference, before)
        assert bool(values.of(resting, {})) == reference.resting(before)
        for event, after in reference.successors(before):
            env = dict(zip(params[event.name], event.members, strict=True))
            for (one, steps, _), term in zip(asked, found[event.name], strict=True):
                if steps:
                    held = after == before or one.holds(reference, before, after)
                else:
                    held = one.holds(reference, after)
                assert bool(values.of(term, env)) == held, (one.text, event)
                compared += 1
    return compared


@SETTINGS
@given(protocols())
def test_what_is_said_before_a_step_is_what_holds_after_it(drawn: Any) -> None:
    """Of random protocols, each state and event: before the step and after it."""
    compare_before(drawn(), most=12)


@pytest.mark.parametrize("effect", EFFECTS)
def test_of_tricky_effects_the_claim_before_is_the_claim_after(effect: Any) -> None:
    """So it is where writes read each other; rest is what it is in Python, too."""
    enabled = effect.__name__ != "never"

    assert (compare_before(protocol(effect), most=12) > 0) == enabled


def revisiting(term: t.Term, answer: Any) -> t.Term:
    """Replace leaves again where simplification leaves a bare one: a known mistake."""
    if isinstance(term, t.Var):
        return answer(term) or term
    inner = tuple(revisiting(child, answer) for child in t.children(term))
    rebuilt = t.rebuild(term, inner) if inner != t.children(term) else term
    return (isinstance(rebuilt, t.Get) and answer(rebuilt)) or rebuilt


@pytest.mark.parametrize("lamp", [Lamp, BareLamp])
def test_a_false_proof_is_never_printed(lamp: type[Protocol], monkeypatch: Any) -> None:
    """If the query to z3 were wrong, the search would contradict the proof."""
    monkeypatch.setattr(fragment, "replace_leaves", revisiting)

    with pytest.raises(Disagreement) as caught:
        prove(lamp())

    message = str(caught.value)
    assert "z3 calls never-on" in message
    assert "the search refutes it" in message
    assert "after 1 step (switch())" in message


def test_a_false_bounded_verdict_is_never_printed(monkeypatch: Any) -> None:
    """A trace that z3 overlooks within its depth is a contradiction as well."""

    def overlooking(system: Any, asked: Any, **options: Any) -> Any:
        found = check_bounded(system, asked, **options)
        return [type(b)(b.query, Verdict.BOUNDED) for b in found]

    monkeypatch.setattr(
        "onceproof.properties.judges.by_proof.judge.check_bounded", overlooking
    )

    with pytest.raises(Disagreement, match="z3 calls never-on bounded"):
        prove(Lamp())


def test_a_wrong_step_of_z3_is_a_contradiction_and_no_verdict(monkeypatch: Any) -> None:
    """A failed induction that Python does not see is an internal error with exit 2."""
    monkeypatch.setattr(induction, "before_of", lambda *_, **__: t.FALSE)

    with pytest.raises(Disagreement, match="z3 and plain Python disagree"):
        prove(Idle(), depth=1)


def test_a_step_is_a_change_for_every_judge() -> None:
    """An action that leaves the state as it is takes no step, whoever looks."""
    expected = {"only-ever-ends": True, "never-ends": False}

    proved = prove(Idle())
    searched = check(Idle())
    walked = simulate(Idle(), walks=3, depth=3, seed=0)

    for report in (proved, searched, walked):
        assert {n: v.holds for n, v in report.verdicts.items()} == expected
    assert proved.verdicts["only-ever-ends"] is Verdict.PROVED
    system = trace(Idle())
    asked = [one for prop in own_properties(Idle()) for one in ask(prop, system)]
    bounded = check_bounded(system, asked, depth=3, timeout_seconds=600)
    assert [b.verdict for b in bounded] == [Verdict.BOUNDED, Verdict.REFUTED]


def test_a_claim_about_steps_says_nothing_where_there_are_none() -> None:
    """It is vacuous for the search and for z3, and walks leave it undecided."""
    proved, searched = prove(Stuck()), check(Stuck())
    walked = simulate(Stuck(), walks=2, depth=2, seed=0)

    assert set(proved.verdicts.values()) == {Verdict.VACUOUS}
    assert set(searched.verdicts.values()) == {Verdict.VACUOUS}
    assert set(walked.verdicts.values()) == {Verdict.UNDECIDED}
    system = trace(Stuck())
    asked = [one for prop in own_properties(Stuck()) for one in ask(prop, system)]
    for depth, verdict in ((0, Verdict.UNDECIDED), (2, Verdict.VACUOUS)):
        found = check_bounded(system, asked, depth=depth, timeout_seconds=600)
        assert {b.verdict for b in found} == {verdict}
    assert proved.exit_status == searched.exit_status == walked.exit_status == 2
    assert all("no step is possible" in f.note for f in searched.findings)
    assert searched.exploration is not None
    assert searched.exploration.never_taken == ("touch",)


def test_what_never_comes_up_is_vacuous() -> None:
    """Rest, witnesses and premises that no run comes to; others are judged."""
    found = check(Restless())
    proved = prove(Restless())

    assert found.verdicts == {
        "whole": Verdict.VACUOUS,
        "is-broken": Verdict.VACUOUS,
        "is-repaired": Verdict.VACUOUS,
        "is-switched-off": Verdict.EXHAUSTED,
    }
    assert proved.verdicts["whole"] is Verdict.VACUOUS
    assert not any(v.holds for v in proved.verdicts.values())
    assert found.exploration is not None
    assert found.exploration.never_taken == ("repair",)
    assert "never met" in found.findings[2].note


def test_a_premise_that_comes_up_for_some_members_is_judged_of_these() -> None:
    """Of each member on its own: the note names those for whom it never comes up."""
    found = {f.property.name: f for f in check(Queue()).findings}

    assert found["is-served"].verdict is Verdict.EXHAUSTED
    assert "never met, for:" in found["is-served"].note
    assert "TURN1" in found["is-served"].note
    assert "TURN0" not in found["is-served"].note
    assert found["is-sent-away"].verdict is Verdict.REFUTED


def test_a_report_says_how_far_each_verdict_goes(monkeypatch: Any) -> None:
    """Sizes, faults, depth; and of z3 how far the search confirms it."""
    proved = {f.property.name: f for f in prove(Idle(), depth=4).findings}
    searched = check(Idle()).findings[0]

    good = proved["only-ever-ends"]
    assert good.bounds == "every number of members of THING; no faults"
    assert good.confirmed == "confirmed by search at THING=1, 2 and 3 (6 states)"
    assert proved["never-ends"].bounds == ""
    assert searched.bounds == (
        "every reachable state, at most 1 step from the start; THING=2; no faults"
    )
    monkeypatch.setattr(confirm, "MOST_STATES", 1)
    cut = prove(Idle(), depth=4).findings[0]
    assert cut.verdict is Verdict.PROVED
    assert cut.confirmed.startswith("not confirmed by search: only the first 2 states")


def test_the_exit_status_counts_every_finding() -> None:
    """Two claims of one name are two findings, and neither hides the other."""
    ends, never_ends = prove(Idle()).findings
    same = type(ends.property)(
        never_ends.property.name, ends.property.clauses, own=True
    )
    hidden = [never_ends, replace(ends, property=same)]

    for findings in (hidden, hidden[::-1]):
        judged = Report(Idle(), findings)
        assert judged.verdicts == {"never-ends": Verdict.REFUTED}
        assert judged.exit_status == 1
    for judge in (check, prove):
        with pytest.raises(ModelError, match="two claims are called never-ends"):
            judge(Idle(), [f.property for f in hidden])


@pytest.mark.parametrize("judge", [explore, walk])
def test_two_questions_of_one_name_are_refused(judge: Any) -> None:
    """Each would be given the other's answer."""
    system = trace(Idle())
    always = Modality.ALWAYS
    questions = [SearchQuery("same", always, term) for term in (t.TRUE, t.FALSE)]

    with pytest.raises(ValueError, match="two questions are called 'same'"):
        judge(system, questions)
