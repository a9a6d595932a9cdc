"""Claims about fair runs have the same verdicts under symmetry as without it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    any_of,
    eventually,
    if_else,
    leads_to,
    nobody_of,
    state,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.search.fairness import orbits
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.search.test_liveness import FAIR, assert_lasso

if TYPE_CHECKING:
    from collections.abc import Iterable


def drawn(seed: int) -> type[Protocol]:
    """Draw a protocol of members that are alike, with steps that may starve."""
    chance = random.Random(seed)
    sort = Sort("process", size=chance.choice([2, 3]))
    body: dict[str, object] = {
        "__doc__": "Drawn.",
        "P": sort,
        "at": state(0, high=2, per=sort),
        "lit": state(False),
    }
    if chance.random() < 0.4:
        body["held"] = state(nobody_of(sort))
    for number in range(chance.randint(3, 5)):
        body[f"step_{number}"] = _step(chance, sort, f"step_{number}", body)
    wanted, asked = chance.choice([1, 2]), chance.choice([0, 0, 1])

    def arrives(self: Protocol, x: Member) -> bool:
        """It gets there."""
        return self.at[x] == wanted

    def answered(self: Protocol, x: Member) -> tuple[bool, bool]:
        """Who asks is answered."""
        return self.at[x] == asked, self.at[x] == wanted

    def comes(self: Protocol) -> bool:
        """All get there."""
        return all_of(self.at[x] == wanted for x in self.P)

    body["arrives"] = eventually(per=sort)(arrives)
    body["answered"] = leads_to(per=sort)(answered)
    body["comes"] = eventually(comes)
    for name, value in body.items():
        if callable(value) and hasattr(value, "__qualname__"):
            value.__qualname__ = name
    return type("Drawn", (Protocol,), body)


def _step(
    chance: random.Random, sort: Sort, name: str, body: dict[str, object]
) -> object:
    here, there = chance.randrange(3), chance.randrange(3)
    kind, holds = chance.choice(["plain", "crowd", "light", "pair"]), "held" in body

    def one(self: Protocol, x: Member) -> None:
        when(self.at[x] == here)
        if kind == "crowd":
            when(any_of(self.at[y] == there for y in self.P))
        if kind == "light":
            self.lit = if_else(self.lit, False, True)
        if holds and kind == "crowd":
            when(self.held != x)
        if holds and kind == "plain":
            self.held = x
        self.at[x] = there

    def both(self: Protocol, x: Member, y: Member) -> None:
        when(self.at[x] == here, self.at[y] == there)
        self.at[x] = there
        self.at[y] = here

    method = both if kind == "pair" else one
    method.__name__ = name
    method.__doc__ = "Move."
    per = (sort, sort) if kind == "pair" else sort
    return action(per=per, fair=chance.random() < 0.8)(method)


def agree(protocol: Protocol) -> set[tuple[str, Verdict]]:
    """Compare all findings about runs, and each lasso with what a lasso is."""
    whole = {f.property.name: f for f in check(protocol).findings}
    reference = Interpreter(protocol)
    FAIR.clear()
    FAIR.update({s.name: s.fair for s in reference.steps.values()})
    seen = set()
    for found in check(protocol, symmetry=True).findings:
        name = found.property.name
        assert found.verdict is whole[name].verdict, name
        if found.property.clauses[0].when.of_runs:
            seen.add((name, found.verdict))
            if found.trace is not None:
                clause = found.property.clauses[found.clause]
                assert_lasso(reference, clause, found.trace)
    return seen


def compared(seeds: Iterable[int]) -> set[tuple[str, Verdict]]:
    """Compare drawn protocols, whatever of them has members that are alike."""
    return set().union(*(agree(drawn(seed)()) for seed in seeds))


def test_drawn_protocols_have_the_verdicts_of_the_full_graph():
    """Of both kinds, for claims that name a member and those that do not."""
    seen = compared((0, 7, 10))

    assert {verdict for _, verdict in seen} == {Verdict.EXHAUSTED, Verdict.REFUTED}


class Lamps(Protocol):
    """One lamp may be switched for ever; the other is switched on at last."""

    LAMP = Sort("lamp", size=3)
    on = state(False, per=LAMP)

    @action(per=LAMP, fair=True)
    def switch(self, x: Member) -> None:
        """Switch a lamp."""
        self.on[x] = if_else(self.on[x], False, True)

    @eventually(per=LAMP)
    def shines(self, x: Member) -> bool:
        """Every lamp shines at last."""
        return self.on[x]

    @eventually
    def all_shine(self) -> bool:
        """All shine together at last."""
        return all_of(self.on[x] for x in self.LAMP)


def test_fairness_is_to_each_member_while_orbits_forget_who_is_who():
    """Switching one lamp for ever starves the others; taking turns need not."""
    found = {f.property.name: f.verdict for f in check(Lamps(), symmetry=True).findings}

    assert found == {"shines": Verdict.EXHAUSTED, "all-shine": Verdict.REFUTED}


def test_a_claim_with_too_many_pairs_is_undecided_and_says_why(monkeypatch):
    """It is not taken to hold."""
    monkeypatch.setattr(orbits, "MOST", 5)

    found = check(Lamps(), symmetry=True).findings[0]

    assert found.verdict is Verdict.UNDECIDED
    assert "too many" in found.note


@pytest.mark.grid
def test_many_drawn_protocols_have_the_verdicts_of_the_full_graph():
    """Every claim is refuted in some, and holds in others."""
    seen = compared(range(100, 150))

    for name in ("arrives", "answered", "comes"):
        assert {v for n, v in seen if n == name} >= {
            Verdict.EXHAUSTED,
            Verdict.REFUTED,
        }
