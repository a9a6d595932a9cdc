"""Claims about inductions over several steps."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from onceproof.model.errors import Disagreement
from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    always,
    count,
    state,
    step,
    when,
)
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.limits import Limits
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_proof.claims import ask
from onceproof.properties.judges.by_proof.fragment import open_sorts
from onceproof.properties.judges.by_proof.second_solver import recheck
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.verdicts import Verdict
from tests.model.random_protocols import protocols

if TYPE_CHECKING:
    from onceproof.properties.property import Property


class Stage(Enum):
    """Where something is; nothing leads to the edge."""

    HOME = "home"
    ROAD = "road"
    GATE = "gate"
    EDGE = "edge"
    LOST = "lost"


class Walk(Protocol):
    """Workers carry something home and away; it would fall from the edge."""

    WORKER = Sort("worker", size=2)

    at = state(Stage.HOME)
    carried = state(False, per=WORKER)

    @action(per=WORKER)
    def leave(self, w: Member) -> None:
        """A worker carries it away."""
        when(self.at == Stage.HOME)
        self.at = Stage.ROAD
        self.carried[w] = True

    @action(per=WORKER)
    def arrive(self, w: Member) -> None:
        """Who carries it brings it home."""
        when(self.at == Stage.ROAD, self.carried[w])
        self.at = Stage.HOME
        self.carried[w] = False

    @action
    def fall(self) -> None:
        """What is at the edge falls."""
        when(self.at == Stage.EDGE)
        self.at = Stage.LOST

    @always
    def nothing_is_lost(self) -> bool:
        """It does not fall."""
        return self.at != Stage.LOST


class Fall(Walk):
    """The same, where it gets to the edge after all."""

    @action(per=Walk.WORKER)
    def stray(self, w: Member) -> None:
        """A worker misses the turn."""
        when(self.at == Stage.ROAD, self.carried[w])
        self.at = Stage.EDGE


class Born(Walk):
    """The same, where the claim is false one step from the start, and never after."""

    at = state(Stage.GATE)

    @action
    def begin(self) -> None:
        """It begins where it must not be."""
        when(self.at == Stage.GATE)
        self.at = Stage.LOST

    @action
    def fall(self) -> None:
        """From there it gets home."""
        when(self.at == Stage.LOST)
        self.at = Stage.HOME


class Watched(Walk):
    """The same, with a claim about steps."""

    @step
    def nothing_falls(self, after: Walk) -> bool:
        """It falls in no step."""
        return after.at != Stage.LOST


class Counted(Walk):
    """The same, where somebody falls from the edge once many carry something."""

    many = state(False)

    @action
    def look(self) -> None:
        """Someone counts those who carry it."""
        self.many = count(self.carried[w] for w in self.WORKER) > 1

    @action
    def fall(self) -> None:
        """What many carry falls at the edge."""
        when(self.at == Stage.EDGE, self.many)
        self.at = Stage.LOST


def verdict_of(protocol: Protocol, name: str, steps: int) -> Verdict:
    """Judge one claim, by inductions over up to so many steps."""
    chosen = [p for p in claims_of(protocol) if p.name == name]
    return prove(protocol, chosen, induction_depth=steps).findings[0].verdict


def test_an_induction_over_two_steps_proves_what_one_step_does_not():
    one, two = (verdict_of(Walk(), "nothing-is-lost", steps) for steps in (1, 2))

    assert one is not Verdict.PROVED
    assert two is Verdict.PROVED


def test_a_step_that_counts_members_says_why_it_is_not_proved_over_several_steps():
    chosen = [p for p in claims_of(Counted()) if p.name == "nothing-is-lost"]

    [finding] = prove(Counted(), chosen, induction_depth=2).findings

    assert finding.verdict is not Verdict.PROVED
    assert "nor over several steps: look counts or adds up over WORKER" in finding.note


def test_a_claim_about_steps_is_proved_over_two_steps():
    assert verdict_of(Watched(), "nothing-falls", 1) is not Verdict.PROVED
    assert verdict_of(Watched(), "nothing-falls", 2) is Verdict.PROVED


@pytest.mark.parametrize(
    ("kind", "name"), [(Walk, "nothing-is-lost"), (Watched, "nothing-falls")]
)
def test_a_second_solver_checks_a_proof_over_two_steps(kind, name):
    """It confirms two steps, and neither one step nor a walk that can fall."""
    pytest.importorskip("cvc5")
    chosen = [p for p in claims_of(kind()) if p.name == name]

    [finding] = prove(kind(), chosen, induction_depth=2).findings

    assert "; re-checked by cvc5 " in finding.confirmed
    assert not rechecked(kind(), chosen, 1).startswith("re-checked")
    assert rechecked(kind(), chosen, 2).startswith("re-checked")


@pytest.mark.parametrize("kind", [Fall, Born])
def test_a_second_solver_contradicts_a_false_proof_over_two_steps(kind):
    """In the states that begin a run, or in those that follow."""
    pytest.importorskip("cvc5")
    chosen = [p for p in claims_of(kind()) if p.name == "nothing-is-lost"]

    assert not rechecked(kind(), chosen, 2).startswith("re-checked")


def rechecked(protocol: Protocol, chosen: list[Property], number: int) -> str:
    """Ask cvc5 alone, at any number of workers."""
    system = trace(protocol)
    claims = [query for prop in chosen for query in ask(prop, system)]
    try:
        return recheck(
            system, claims, open_sorts(system), timeout_seconds=600, number=number
        )
    except Disagreement:
        return "contradicted"


@pytest.mark.parametrize("kind", [Fall, Born])
@pytest.mark.parametrize("steps", [2, 3, 4])
def test_what_is_false_is_proved_over_no_number_of_steps(kind, steps):
    assert verdict_of(kind(), "nothing-is-lost", steps) is Verdict.REFUTED


@pytest.mark.ci
@settings(max_examples=6, deadline=None)
@given(protocols())
def test_nothing_is_proved_over_several_steps_that_the_search_refutes(drawn):
    report = prove(drawn(), depth=2, timeout_seconds=1, induction_depth=2)

    proved = {f.property.name for f in report.findings if f.verdict is Verdict.PROVED}
    for size in (1, 2, 3):
        other = drawn(S=size)
        chosen = [p for p in claims_of(other) if p.name in proved]
        found = check(other, chosen, limits=Limits(states=20_000))
        assert Verdict.REFUTED not in found.verdicts.values()
