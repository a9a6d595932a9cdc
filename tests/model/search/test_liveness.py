"""Claims about fair runs are settled as a plain graph algorithm settles them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    any_of,
    eventually,
    if_else,
    leads_to,
    not_,
    state,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.properties.judges.by_search import check
from onceproof.properties.property import Clause, own_properties
from onceproof.properties.verdicts import Verdict
from tests.examples import drawn_from
from tests.model.random_protocols import protocols
from tests.model.test_readers_agree import SETTINGS, levels

if TYPE_CHECKING:
    from onceproof.model.traces import Trace

LIVELY = ("comes", "answers")


def claim_of(clause: Clause, view: Any) -> tuple[Any, Any]:
    """Work out what leads to what, in one state; None leads from the start only."""
    found = clause.holds(view)
    return found if isinstance(found, tuple) else (None, found)


def changes(reference: Interpreter, state: Any) -> list[Any]:
    """List the steps from a state that change it."""
    return [(e, s) for e, s in reference.successors(state) if s != state]


def is_fair(reference: Interpreter, states: set[Any], taken: set[Any]) -> bool:
    """Say whether a run that goes through these for ever is fair to every event."""
    fair = {e for e in reference.events() if FAIR[e.name]}
    return all(
        e in taken or any(e not in dict(changes(reference, s)) for s in states)
        for e in fair
    )


FAIR: dict[str, bool] = {}


def breaks(reference: Interpreter, clause: Clause, states: dict[Any, int]) -> bool:
    """Search for a fair run that breaks a claim, the slow and simple way."""
    found = {s: claim_of(clause, reference.look(s)) for s in states}
    avoiding = nx.MultiDiGraph()
    avoiding.add_nodes_from(s for s in states if not found[s][1])
    for s in list(avoiding):
        for e, after in changes(reference, s):
            if after in avoiding:
                avoiding.add_edge(s, after, event=e)
    begins = {s for s in avoiding if states[s] == 0 or found[s][0] is not None}
    begins = {s for s in begins if found[s][0] is None or found[s][0]}
    near = set(begins).union(*(nx.descendants(avoiding, s) for s in begins))
    for piece in nx.strongly_connected_components(avoiding):
        inner = avoiding.subgraph(piece)
        taken = {e for _, _, e in inner.edges(data="event")}
        if piece & near and is_fair(reference, piece, taken):
            return True
    return False


def assert_lasso(reference: Interpreter, clause: Clause, trace: Trace) -> None:
    """Check a trace: each step real, back where it looped, false and fair for ever."""
    assert trace.loop is not None
    state = trace.start
    for event, after in trace.steps:
        assert reference.after(state, event) == after
        state = after
    for_ever = trace.states[trace.loop :]
    assert for_ever[0] == for_ever[-1]
    assert not any(claim_of(clause, reference.look(s))[1] for s in for_ever)
    taken = {e for e, _ in trace.steps[trace.loop :]}
    assert is_fair(reference, set(for_ever), taken)


@drawn_from(protocols(), few=20, many=60, like=SETTINGS)
def test_the_search_settles_fair_runs_as_a_plain_algorithm_does(drawn):
    """Verdicts agree, and each lasso is a fair run that breaks the claim."""
    protocol = drawn()
    reference = Interpreter(protocol)
    states = levels(reference)
    if states is None:
        return
    FAIR.clear()
    FAIR.update({s.name: s.fair for s in reference.steps.values()})

    report = check(protocol)

    findings = {f.property.name: f for f in report.findings}
    for prop in own_properties(protocol):
        if prop.name in LIVELY:
            broken = [c for c in prop.clauses if breaks(reference, c, states)]
            finding = findings[prop.name]
            assert (finding.verdict is Verdict.REFUTED) == bool(broken)
            if finding.trace is not None:
                clause = finding.property.clauses[finding.clause]
                assert_lasso(reference, clause, finding.trace)


class Lamps(Protocol):
    """Each lamp is switched on, and off, and on."""

    LAMP = Sort("lamp")
    on = state(False, per=LAMP)
    asked = state(False, per=LAMP)

    @action(per=LAMP)
    def ask(self, x: Member) -> None:
        """Somebody wants light."""
        self.asked[x] = True

    @action(per=LAMP, fair=True)
    def switch(self, x: Member) -> None:
        """The lamp is switched on for whoever asked."""
        when(self.asked[x])
        self.on[x] = True

    @leads_to(per=LAMP)
    def lit(self, x: Member) -> tuple[bool, bool]:
        """Who asks gets light."""
        return self.asked[x], self.on[x]

    @eventually(per=LAMP)
    def shines(self, x: Member) -> bool:
        """Every lamp shines at last."""
        return self.on[x]


def test_what_need_not_happen_may_wait_for_ever():
    """Nobody has to ask, so a lamp may stay dark; who asked is served."""
    found = {f.property.name: f for f in check(Lamps()).findings}

    assert found["lit"].verdict is Verdict.EXHAUSTED
    assert found["shines"].verdict is Verdict.REFUTED
    assert found["shines"].trace.loop == len(found["shines"].trace.steps)


class Flip(Protocol):
    """A switch that never rests, and a lamp that it does not feed."""

    up = state(False)
    light = state(False)

    @action(fair=True)
    def flip(self) -> None:
        """Turn the switch over."""
        self.up = if_else(self.up, False, True)

    @action(fair=True)
    def shine(self) -> None:
        """Shine while the switch is up: it can be turned over before."""
        when(self.up)
        self.light = True

    @eventually()
    def shines(self) -> bool:
        """The lamp shines at last."""
        return self.light


def test_weak_fairness_does_not_help_what_is_disabled_now_and_then():
    """A cycle refutes it: each event in it happens, or cannot happen, over and over."""
    found = check(Flip()).findings[0]

    assert found.verdict is Verdict.REFUTED
    assert [str(e) for e in found.trace.events[found.trace.loop :]] == ["flip()"] * 2


class Questions(Protocol):
    """The first question is answered, and the second never."""

    stage = state(0, high=3)

    @action(fair=True)
    def go_on(self) -> None:
        """Ask, answer, ask again."""
        when(self.stage < 3)
        self.stage = self.stage + 1

    @leads_to
    def answered(self) -> tuple[bool, bool]:
        """Who asks, at stages 1 and 3, gets an answer, at stage 2."""
        return any_of([self.stage == 1, self.stage == 3]), self.stage == 2


def test_what_leads_to_something_is_asked_wherever_the_premise_holds():
    """Not only where it holds first."""
    [found] = check(Questions()).findings

    assert found.verdict is Verdict.REFUTED
    assert len(found.trace.steps) == 3


class Leaving(Protocol):
    """Turns a switch over and over until somebody leaves, and is then done."""

    up = state(False)
    left = state(False)
    done = state(False)

    @action(fair=True)
    def flip(self) -> None:
        """Turn the switch over."""
        when(not_(self.left))
        self.up = if_else(self.up, False, True)

    @action(fair=True)
    def leave(self) -> None:
        """Leave the switch as it is."""
        self.left = True

    @action(fair=True)
    def finish(self) -> None:
        """End, after leaving."""
        when(self.left)
        self.done = True

    @eventually()
    def ends(self) -> bool:
        """Sooner or later it ends."""
        return self.done


def test_who_can_always_leave_a_cycle_leaves_it():
    """A step out of a cycle is not taken in it: to go round for ever is not fair."""
    [found] = check(Leaving()).findings

    assert found.verdict is Verdict.EXHAUSTED
