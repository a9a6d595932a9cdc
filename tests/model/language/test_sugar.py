"""Claims for each member, least and greatest, whole messages, chosen elements."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    always,
    at_rest,
    channels,
    equal,
    lemma,
    max_of,
    min_of,
    recoverable,
    sometimes,
    state,
    step,
    when,
)
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.test_readers_agree import compare_successors


class Note(NamedTuple):
    """A message of two parts."""

    urgent: bool
    page: int


class Counters(Protocol):
    """Each counts to two; what is sent is counted once for all who wait."""

    R = Sort("reader", size=2)

    count_ = state(0, per=R, high=2)
    waits = state(False, per=R)
    most = state(0, high=2)
    twice = state(False)
    link = channels(Note(False, 0), length=2, high=2)

    @action(per=R)
    def wait(self, r: Member) -> None:
        """Begin to wait."""
        self.waits[r] = True

    @action
    def count_for_all(self) -> None:
        """Count for those who wait, and let them wait no more."""
        self.count_.where(lambda r: self.waits[r] & (self.count_[r] < 2)).add(1)
        self.waits.where(lambda r: self.waits[r]).fill(False)

    @action(per=R)
    def note(self, r: Member) -> None:
        """Keep the greatest count, stopped at one."""
        self.most = max_of(self.most, min_of(self.count_[r], 1))

    @action(per=R)
    def send(self, r: Member) -> None:
        """Send what was counted."""
        self.link.only.send(Note(self.waits[r], self.count_[r]))

    @action
    def compare(self) -> None:
        """Note that two messages alike lie in a row."""
        (one, first), (other, second) = self.link.only.messages()
        when(one, other, equal(first, second))
        self.twice = True

    @always(per=R)
    def in_bounds(self, r: Member) -> bool:
        """Nobody counts beyond two."""
        return self.count_[r] <= 2

    @lemma(per=(R, R))
    def as_many(self, r: Member, q: Member) -> bool:
        """No two counts differ by more than two."""
        return self.count_[r] <= self.count_[q] + 2

    @always(per=R)
    def never_counts(self, r: Member) -> bool:
        """No reader counts."""
        return self.count_[r] == 0

    @step(per=R)
    def grows(self, r: Member, after: Counters) -> bool:
        """No count goes back, and none by more than one."""
        return (self.count_[r] <= after.count_[r]) & (
            after.count_[r] <= self.count_[r] + 1
        )

    @at_rest(per=R)
    def rests(self, r: Member) -> bool:
        """It never rests, for waiting goes on."""
        return self.waits[r]

    @sometimes(per=R)
    def reaches_two(self, r: Member) -> bool:
        """Each reader can count to two."""
        return self.count_[r] == 2

    @sometimes
    def sees_two_alike(self) -> bool:
        """Two messages can be alike."""
        return self.twice

    @recoverable(per=R)
    def can_rest(self, r: Member) -> bool:
        """Rest is not reached by anyone."""
        return self.count_[r] == 2


def test_claims_are_made_for_each_member():
    """The search judges them as if each had been written out."""
    report = check(Counters())

    holds = {"in-bounds", "as-many", "grows", "reaches-two", "sees-two-alike"}
    assert {n for n, v in report.verdicts.items() if v is Verdict.EXHAUSTED} == holds
    assert report.verdicts["never-counts"] is Verdict.REFUTED
    clauses = {f.property.name: len(f.property.clauses) for f in report.findings}
    assert (clauses["reaches-two"], clauses["in-bounds"]) == (2, 1)
    compare_successors(Counters(R=1))


class Voters(Protocol):
    """Each votes once."""

    R = Sort("voter", size=2)

    voted = state(False, per=R)
    counted = state(False, per=R)

    @action(per=R)
    def vote(self, r: Member) -> None:
        """Vote, and be counted."""
        self.voted[r] = True
        self.counted[r] = True

    @always(per=R)
    def is_counted(self, r: Member) -> bool:
        """Who voted is counted."""
        return self.voted[r] == self.counted[r]

    @step(per=R)
    def stays(self, r: Member, after: Voters) -> bool:
        """Whoever has voted has voted."""
        return (self.voted[r] == after.voted[r]) | after.voted[r]


def test_a_claim_for_each_member_is_proved_for_every_number_of_them():
    """It names no member, so that symmetry and z3 may rename them."""
    report = prove(Voters(), depth=2)

    assert report.verdicts["is-counted"] is Verdict.PROVED
    assert report.verdicts["stays"] is Verdict.PROVED
    assert check(Voters(), symmetry=True).exploration.distinct == 3


def test_plain_values_have_a_least_and_a_greatest():
    """As Python's own do, for whole numbers alone."""
    assert (min_of(3, 1, 2), max_of(1, 3, 2), min_of(4)) == (1, 3, 4)
    assert equal(Note(urgent=True, page=1), Note(urgent=True, page=1))
    assert not equal(Note(urgent=True, page=1), Note(urgent=True, page=2))
    with pytest.raises(ModelError, match="a whole number is needed"):
        min_of(3, True)
    with pytest.raises(ModelError, match="shapes differ"):
        equal(Note(urgent=True, page=1), (True, 1))
