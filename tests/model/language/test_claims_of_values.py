"""Claims for each value of an enumeration, a range or a truth value."""

from __future__ import annotations

from enum import Enum, Flag

import pytest

from onceproof.model.errors import ModelError
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
    eventually,
    implies,
    leads_to,
    lemma,
    not_,
    part,
    recoverable,
    sometimes,
    state,
    step,
    when,
)
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check
from onceproof.properties.property import own_properties
from onceproof.properties.verdicts import Verdict


class Light(Enum):
    """What a lamp shows."""

    RED = 1
    GREEN = 2
    BLUE = 3


class Bulb(Part):
    """A bulb that shows a light."""

    shows = state(Light.RED)

    @sometimes(per=Light)
    def can_show(self, light: Light) -> bool:
        """It can show each light."""
        return self.shows == light


class Lamps(Protocol):
    """Lamps that go from red to green, and are lit or not."""

    LAMP = Sort("lamp")

    bulb = part(Bulb)
    shows = state(Light.RED, per=LAMP)
    lit = state(False, per=LAMP)
    n = state(0, high=3)

    @action(per=LAMP, fair=True)
    def go(self, lamp: Member) -> None:
        """Show green."""
        when(self.shows[lamp] == Light.RED, self.n < 3)
        self.shows[lamp] = Light.GREEN
        self.n = self.n + 1

    @action(per=LAMP)
    def light(self, lamp: Member) -> None:
        """Light it."""
        when(not_(self.lit[lamp]))
        self.lit[lamp] = True

    @always(per=(LAMP, range(1, 3)))
    def counted(self, lamp: Member, number: int) -> bool:
        """A number between lamps and values, both in one claim."""
        return implies(self.n >= number, self.n >= number - 1) & (
            self.shows[lamp] == self.shows[lamp]
        )

    @always(per=range(2))
    def never_more(self, number: int) -> bool:
        """The count is never beyond each number: refuted by one of them."""
        return self.n <= number

    @lemma(per=(bool, LAMP))
    def lit_or_not(self, value: bool, lamp: Member) -> bool:
        """Values before members."""
        return implies(self.lit[lamp] == value, self.lit[lamp] == value)

    @at_rest(per=Light)
    def not_at_rest(self, light: Light) -> bool:
        """At rest no lamp shows the first light, or the last."""
        first = light == Light.RED
        return implies(first, all_of(self.shows[p] != light for p in self.LAMP))

    @step(per=Light)
    def stays(self, light: Light, after: Lamps) -> bool:
        """No lamp leaves green or blue."""
        return all_of(
            implies(
                self.shows[p] == light,
                (after.shows[p] == light) | (light == Light.RED),
            )
            for p in self.LAMP
        )

    @sometimes(per=(LAMP, Light))
    def shows_each(self, lamp: Member, light: Light) -> bool:
        """Each lamp shows each light, which is not so."""
        return self.shows[lamp] == light

    @recoverable(per=bool)
    def can_end(self, value: bool) -> bool:
        """Rest with every lamp lit can be reached, and not with none."""
        return all_of(self.lit[p] == value for p in self.LAMP)

    @eventually(per=range(3))
    def counts_to(self, number: int) -> bool:
        """Each number up to two is reached."""
        return self.n >= number

    @leads_to(per=Light)
    def leads_on(self, light: Light) -> tuple[bool, bool]:
        """Whoever shows a light shows green at last."""
        return (
            all_of(self.shows[p] == light for p in self.LAMP),
            all_of(self.shows[p] == Light.GREEN for p in self.LAMP),
        )


EXPECTED = {
    "counted": Verdict.EXHAUSTED,
    "never-more": Verdict.REFUTED,
    "lit-or-not": Verdict.EXHAUSTED,
    "not-at-rest": Verdict.EXHAUSTED,
    "stays": Verdict.EXHAUSTED,
    "shows-each": Verdict.VACUOUS,
    "can-end": Verdict.REFUTED,
    "counts-to": Verdict.EXHAUSTED,
    "leads-on": Verdict.EXHAUSTED,
    "bulb.can-show": Verdict.VACUOUS,
}


def test_a_claim_is_made_for_each_value():
    """The search judges all modalities, and each value where it is one of its own."""
    report = check(Lamps())

    assert report.verdicts == EXPECTED
    clauses = {p.name: len(p.clauses) for p in own_properties(Lamps())}
    assert clauses["shows-each"] == 6
    assert clauses["counts-to"] == 3
    assert (clauses["counted"], clauses["stays"]) == (1, 1)


class Climber(Protocol):
    """Climbs, and is claimed never to be on each of three steps."""

    height = state(0, high=3)

    @action
    def climb(self):
        """Climb to the last step."""
        when(self.height == 0)
        self.height = 3

    @always(per=range(1, 4))
    def is_not_there(self, height):
        """It is there on the last alone."""
        return self.height != height

    @always(per=(range(1, 4), bool))
    def is_lower(self, height, strictly):
        """So it is of the last pair of values alone."""
        return any_of(self.height < height, height < 3, not_(strictly))


def test_a_claim_of_all_values_is_made_for_the_last_as_well():
    """It is one claim, which fails where it does for any value."""
    report = check(Climber())

    assert set(report.verdicts.values()) == {Verdict.REFUTED}


def test_values_are_in_the_words_of_a_claim():
    """Which value it was is said of what is refuted."""
    found = {
        clause.text
        for prop in own_properties(Lamps())
        for clause in prop.clauses
        if prop.name in ("shows-each", "can-end", "counts-to")
    }

    assert "each lamp shows each light, which is not so (LAMP1, GREEN)" in found
    assert any(text.endswith("(True)") for text in found)
    assert any(text.endswith("(2)") for text in found)


class Alike(Protocol):
    """Lamps alike, with claims about values that name no lamp."""

    LAMP = Sort("lamp", size=3)

    lit = state(False, per=LAMP)

    @action(per=LAMP)
    def light(self, lamp: Member) -> None:
        """Light it."""
        self.lit[lamp] = True

    @always(per=(LAMP, bool))
    def is_lit_or_not(self, lamp: Member, value: bool) -> bool:
        """It is one of both."""
        return (self.lit[lamp] == value) | (self.lit[lamp] != value)

    @lemma(per=(LAMP, Light))
    def stays_alike(self, lamp: Member, light: Light) -> bool:
        """A claim about a lamp, once for each light."""
        return self.lit[lamp] | not_(self.lit[lamp]) | (light == Light.RED)


def test_values_cost_neither_symmetry_nor_proofs_for_every_size():
    """Members are still for all, and values are written out."""
    assert check(Alike(), symmetry=True).exploration.distinct == 4
    assert prove(Alike(), depth=2).verdicts["is-lit-or-not"] is Verdict.PROVED


class Signs(Flag):
    """Sets of signs."""

    A = 1
    B = 2


@pytest.mark.parametrize(
    ("per", "message"),
    [
        (range(0), "a range that is not empty"),
        (Signs, "is a Flag"),
        ("R", "takes a sort, an enumeration, bool or a range"),
        (int, "takes a sort, an enumeration, bool or a range"),
        (range(5000), "5,000 tuples|4,097 tuples"),
        ((range(100), range(100)), "10,000 tuples of values"),
        (range(2**60, 2**60 + 1), "whole numbers go from"),
    ],
)
def test_what_has_no_values_to_go_through_is_refused(per, message):
    """Where the claim is declared."""
    with pytest.raises(ModelError, match=message) as error:
        always(per=per)(lambda self, value: self.n == value)

    assert error.value.where.startswith(__file__)


def as_action(per):
    action(per=per)(lambda self, light: None)


@pytest.mark.parametrize("declare", [as_action, lambda per: state(0, per=per, high=1)])
def test_only_claims_are_for_values(declare):
    """Others are refused with the sort to declare."""
    with pytest.raises(ModelError, match=r"size=3, ordered=True\)"):
        declare(per=Light)


def test_a_claim_names_its_values_by_its_parameters():
    """The signature to write is in the error."""

    class Wrong(Protocol):
        n = state(0, high=1)

        @always(per=(Light, range(2)))
        def claim(self) -> bool:
            """Take no value."""
            return self.n == 0

    with pytest.raises(ModelError, match=r"def claim\(self, light, number\)"):
        check(Wrong())
    assert trace(Wrong())
