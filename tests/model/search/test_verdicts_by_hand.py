"""Protocols of a few states each, whose verdicts a reader works out at a glance."""

from __future__ import annotations

import pytest

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    fault,
    if_else,
    leads_to,
    not_,
    recoverable,
    state,
    when,
)
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict


class HelpedByAFault(Protocol):
    """Once the machine has failed, nothing but another fault starts it again."""

    failed = state(False)

    @fault
    def fail(self) -> None:
        """The machine stops."""
        when(not_(self.failed))
        self.failed = True

    @fault
    def wake(self) -> None:
        """A stroke of luck."""
        when(self.failed)
        self.failed = False

    @recoverable
    def works(self) -> bool:
        """It works again, if faults now stop."""
        return not_(self.failed)


class Restless(Protocol):
    """The machine is good now and then, and never rests there."""

    up = state(False)

    @action
    def flip(self) -> None:
        """It goes up, and down, and up."""
        self.up = if_else(self.up, False, True)

    @recoverable
    def settles(self) -> bool:
        """It rests while it is up."""
        return self.up


class Staircase(Protocol):
    """Rest is at the last of several steps."""

    at = state(0, high=4)

    @action
    def climb(self) -> None:
        """One step up."""
        when(self.at < 4)
        self.at = self.at + 1

    @recoverable
    def arrives(self) -> bool:
        """The last step is reached from each of them."""
        return self.at == 4


class NeverAsked(Protocol):
    """Nobody asks, so nothing is answered."""

    asked = state(False)
    idle = state(False)

    @action(fair=True)
    def wait(self) -> None:
        """Do nothing of use."""
        self.idle = True

    @leads_to
    def answered(self) -> tuple[bool, bool]:
        """Who asks gets an answer."""
        return self.asked, self.idle


class Ticking(Protocol):
    """A clock that ticks for ever is fair to itself: it happens over and over."""

    up = state(False)
    light = state(False)

    @action(fair=True)
    def tick(self) -> None:
        """Turn the clock over."""
        self.up = if_else(self.up, False, True)

    @leads_to
    def shines(self) -> tuple[bool, bool]:
        """Nothing lights the lamp."""
        return self.up, self.light


class Unhurried(Protocol):
    """The lamp may be lit, and nobody has to."""

    up = state(False)
    light = state(False)

    @action(fair=True)
    def tick(self) -> None:
        """Turn the clock over."""
        self.up = if_else(self.up, False, True)

    @action
    def shine(self) -> None:
        """Light the lamp."""
        self.light = True

    @leads_to
    def shines(self) -> tuple[bool, bool]:
        """It is lit at last."""
        return self.up, self.light


@pytest.mark.parametrize(
    ("protocol", "claim", "verdict"),
    [
        (HelpedByAFault, "works", Verdict.REFUTED),
        (Restless, "settles", Verdict.REFUTED),
        (Staircase, "arrives", Verdict.EXHAUSTED),
        (NeverAsked, "answered", Verdict.VACUOUS),
        (Ticking, "shines", Verdict.REFUTED),
        (Unhurried, "shines", Verdict.REFUTED),
    ],
)
def test_a_claim_is_settled_as_by_hand(protocol, claim, verdict):
    """Each is about rest, recovery or fair runs."""
    assert check(protocol(faults=2)).verdicts[claim] is verdict


class Relation(Protocol):
    """Pairs are related one after another, until all are."""

    P = Sort("person", size=3)
    related = state(False, per=(P, P))

    @action(per=(P, P))
    def relate(self, a: Member, b: Member) -> None:
        """Relate one person to another, or to himself."""
        self.related[a, b] = True


@pytest.mark.parametrize(("people", "relations"), [(1, 2), (2, 10), (3, 104)])
def test_symmetry_counts_relations(people, relations):
    """The numbers of relations on unlabelled points are published (OEIS A000595)."""
    protocol = Relation(P=people)

    report = check(protocol, symmetry=people > 1)

    assert report.exploration.distinct == relations


class Lamps(Protocol):
    """Each lamp may be lit, and nobody has to."""

    LAMP = Sort("lamp", size=2)
    lit = state(False, per=LAMP)

    @action(per=LAMP)
    def light(self, x: Member) -> None:
        """Light one."""
        self.lit[x] = True

    @leads_to(per=LAMP)
    def shines(self, x: Member) -> tuple[bool, bool]:
        """A dark lamp is lit at last."""
        return not_(self.lit[x]), self.lit[x]


def test_claims_about_fair_runs_are_judged_under_symmetry():
    """A lamp may stay dark, whoever it is."""
    assert check(Lamps()).verdicts["shines"] is Verdict.REFUTED
    assert check(Lamps(), symmetry=True).verdicts["shines"] is Verdict.REFUTED
