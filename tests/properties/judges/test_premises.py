"""A guarantee says nothing of a protocol in which what it speaks of never occurs."""

from __future__ import annotations

import pytest

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    implies,
    observe,
    state,
    when,
)
from onceproof.properties.guarantees import (
    AT_LEAST_ONCE,
    AT_MOST_ONCE,
    DURABLE,
    EFFECTIVELY_ONCE,
    GUARANTEES,
    RECOVERABLE,
)
from onceproof.properties.judges.by_proof import confirm, prove
from onceproof.properties.judges.by_search import check, simulate
from onceproof.properties.verdicts import Verdict


class Delivery(Protocol):
    """An event is taken, delivered and noted as done."""

    E = Sort("event")

    taken = state(False, per=E)
    seen = state(False, per=E)
    done = state(False, per=E)

    @action(per=E)
    def take(self, e: Member) -> None:
        """Take an event."""
        self.taken[e] = True

    @action(per=E)
    def deliver(self, e: Member) -> None:
        """Let readers see it."""
        when(self.taken[e])
        self.seen[e] = True

    @action(per=E)
    def note(self, e: Member) -> None:
        """Note it as done."""
        when(self.seen[e])
        self.done[e] = True

    @observe(per=E)
    def visible(self, e: Member) -> bool:
        """Count what was delivered."""
        return self.seen[e]

    @observe(per=E)
    def accepted(self, e: Member) -> bool:
        """The source owes what was taken."""
        return self.taken[e]

    @observe(per=E)
    def promised(self, e: Member) -> bool:
        """What was noted is promised."""
        return self.done[e]


class NoneAccepted(Delivery):
    """Nothing is owed."""

    @observe(per=Delivery.E)
    def accepted(self, e: Member) -> bool:
        """Nothing is ever owed."""
        return False


class NonePromised(Delivery):
    """Nothing is noted, though it could be."""

    @action(per=Delivery.E)
    def note(self, e: Member) -> None:
        """Note nothing."""
        when(self.seen[e], self.done[e])
        self.done[e] = False


class NoneVisible(Delivery):
    """Nothing is delivered, for nothing is taken."""

    @action(per=Delivery.E)
    def take(self, e: Member) -> None:
        """Take what was delivered."""
        when(self.seen[e])
        self.taken[e] = True


_ACCEPTED = {AT_LEAST_ONCE.name, EFFECTIVELY_ONCE.name, RECOVERABLE.name}
CASES: list[tuple[type[Protocol], set[str]]] = [
    (Delivery, set()),
    (NoneAccepted, _ACCEPTED),
    (NonePromised, {DURABLE.name}),
    (NoneVisible, {*_ACCEPTED, AT_MOST_ONCE.name, DURABLE.name}),
]


@pytest.mark.parametrize(("kind", "idle"), CASES)
@pytest.mark.parametrize("symmetry", [False, True])
def test_the_search_finds_what_says_nothing(
    kind: type[Protocol], idle: set[str], *, symmetry: bool
) -> None:
    found = check(kind(), symmetry=symmetry)

    vacuous = {n for n, v in found.verdicts.items() if v is Verdict.VACUOUS}
    assert vacuous == idle
    assert set(found.verdicts.values()) <= {Verdict.VACUOUS, Verdict.EXHAUSTED}
    assert found.exit_status == (2 if idle else 0)
    for finding in found.findings:
        assert ("ever" in finding.note) == (finding.property.name in idle)


@pytest.mark.parametrize(("kind", "idle"), CASES)
def test_z3_agrees(kind: type[Protocol], idle: set[str]) -> None:
    asked = [g for g in GUARANTEES if g.name in check(kind()).verdicts]
    asked.remove(RECOVERABLE)
    found = prove(kind(), asked, depth=5)

    for finding in found.findings:
        if finding.property.name in idle:
            assert finding.verdict is Verdict.VACUOUS
            assert "so this says nothing" in finding.note
            assert not finding.bounds
        else:
            assert finding.verdict.holds


@pytest.mark.parametrize(("kind", "idle"), CASES)
def test_walks_hold_nothing_that_they_did_not_meet(
    kind: type[Protocol], idle: set[str]
) -> None:
    found = simulate(kind(), walks=50, depth=30, seed=1).verdicts

    undecided = {n for n, v in found.items() if v is Verdict.UNDECIDED}
    assert undecided == {*idle, RECOVERABLE.name}


def test_a_proof_is_undecided_where_no_search_came_to_what_it_speaks_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(confirm, "MOST_STATES", 1)

    [finding] = prove(NonePromised(), [DURABLE], depth=3).findings

    assert finding.verdict is Verdict.UNDECIDED
    assert "nothing is ever recorded as done" in finding.note
    assert "as far as was searched, so this may say nothing" in finding.note


class Idle(Delivery):
    """Nothing is owed, and what is delivered is seen to vanish."""

    @observe(per=Delivery.E)
    def accepted(self, e: Member) -> bool:
        """Nothing is ever owed."""
        return False

    @action(per=Delivery.E)
    def note(self, e: Member) -> None:
        """Take it back."""
        when(self.seen[e])
        self.seen[e] = False
        self.done[e] = True


def test_what_is_refuted_stays_so_though_its_premise_is_never_met() -> None:
    assert check(Idle()).verdicts[DURABLE.name] is Verdict.REFUTED


class Large(Protocol):
    """More state than a search can hold, and simple for z3."""

    E = Sort("element", size=64)

    on = state(False, per=(E, E))

    @action(per=E)
    def turn_on(self, e: Member) -> None:
        """Turn on an element of the diagonal."""
        self.on[e, e] = True

    @always
    def only_the_diagonal(self) -> bool:
        """Nothing else is turned on."""
        return all_of(implies(self.on[e, f], e == f) for e in self.E for f in self.E)


def test_a_proof_is_given_where_the_search_can_hold_no_state_of_that_size() -> None:
    [finding] = prove(Large()).findings

    assert finding.verdict is Verdict.PROVED
    assert "confirmed by search at E=1, 2 and 3" in finding.confirmed
    assert "not searched at E=64: a state takes 4096 bits" in finding.confirmed
