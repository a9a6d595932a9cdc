"""Compiled code against plain Python, where it takes a short way of its own."""

from __future__ import annotations

import pytest

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    implies,
    not_,
    state,
    step,
    when,
)
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.verdicts import Verdict
from tests.model.search.test_word_boundaries import ByHand


class Table(Protocol):
    """Goes through few states, in each of which many elements are compared."""

    P = Sort("place", ordered=True, size=2)

    stage = state(0, high=4)
    linked = state(False, per=(P, P))
    level = state(2, per=P, low=2, high=4)

    @action
    def link_off_the_diagonal(self) -> None:
        """Link every place to all others."""
        when(self.stage == 0)
        self.linked.set(lambda p, q: not_(p == q))
        self.stage = 1

    @action
    def link_all(self) -> None:
        """Link every place to itself, too."""
        when(self.stage == 1)
        self.linked.fill(True)
        self.stage = 2

    @action
    def unlink_the_last(self) -> None:
        """Unlink the last place from itself."""
        when(self.stage == 2)
        self.linked[self.P.last, self.P.last] = False
        self.stage = 3

    @action
    def raise_all(self) -> None:
        """Raise every level."""
        when(self.stage == 3)
        self.level.fill(3)
        self.stage = 4

    @always
    def none_is_linked_to_itself_at_first(self) -> bool:
        """True: only later."""
        diagonal = all_of(not_(self.linked[p, p]) for p in self.P)
        return implies(self.stage < 2, diagonal)

    @always
    def some_are_linked_at_first(self) -> bool:
        """False at the start alone."""
        return any_of(self.linked[p, q] for p in self.P for q in self.P)

    @always
    def some_are_linked_after_the_start(self) -> bool:
        """True."""
        some = any_of(self.linked[p, q] for p in self.P for q in self.P)
        return implies(self.stage > 0, some)

    @always
    def all_are_linked_in_the_middle(self) -> bool:
        """True: of every pair."""
        whole = all_of(self.linked[p, q] for p in self.P for q in self.P)
        return implies(self.stage == 2, whole)

    @always
    def all_stay_linked(self) -> bool:
        """False: the last is no longer linked to itself."""
        whole = all_of(self.linked[p, q] for p in self.P for q in self.P)
        return implies(self.stage > 2, whole)

    @always
    def every_level_is_three_at_the_end(self) -> bool:
        """True: the numbers are not as they are packed."""
        return implies(self.stage == 4, all_of(self.level[p] == 3 for p in self.P))

    @always
    def the_first_level_is_three(self) -> bool:
        """False before the end."""
        return self.level[self.P.first] == 3

    @step
    def all_are_linked_by_the_second_step(self, after: Table) -> bool:
        """True: after it, and not before."""
        whole = all_of(after.linked[p, q] for p in self.P for q in self.P)
        return implies(self.stage == 1, whole)

    @step
    def all_stay_linked_by_each_step(self, after: Table) -> bool:
        """False of the third."""
        whole = all_of(after.linked[p, q] for p in self.P for q in self.P)
        return implies(after.stage > 1, whole)


@pytest.mark.parametrize("size", [2, 9])
def test_what_compares_a_whole_field_agrees_with_plain_python(size):
    """In one word, and where a field takes several."""
    protocol = Table(P=size)
    by_hand = ByHand(protocol)

    report = check(protocol, claims_of(protocol))

    found = {f.property.name: f.verdict is Verdict.REFUTED for f in report.findings}
    assert found == by_hand.broken()
    assert report.exploration.distinct == len(by_hand.steps)


class Pairs(Protocol):
    """Chooses members in pairs."""

    P = Sort("place", size=2)

    chosen = state(False, per=P)

    @action(per=(P, P))
    def choose(self, p: Member, q: Member) -> None:
        """The first of a pair is chosen: nobody is with itself."""
        when(not_(p == q))
        self.chosen[p] = True


@pytest.mark.parametrize(("symmetry", "states"), [(False, 2**3), (True, 3 + 1)])
def test_of_two_members_that_act_together_both_act(symmetry, states):
    """Under symmetry only how many are chosen counts: 0 to 3 of three."""
    report = check(Pairs(P=3), symmetry=symmetry)

    assert report.exploration.distinct == states
