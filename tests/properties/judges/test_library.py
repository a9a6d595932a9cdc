"""A protocol is as it states if just that breaks which it says breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest

from onceproof.model.language import (
    Part,
    Protocol,
    action,
    always,
    leads_to,
    not_,
    part,
    state,
)
from onceproof.model.library import Variant, make, protocols
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.judges.library import judge_variants
from onceproof.properties.matrix.compositions import compositions
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping


class Lamp(Protocol):
    """A lamp that is lit once, and a bell that nobody rings."""

    lit = state(False)
    rung = state(False)

    @action
    def light(self) -> None:
        """Light it."""
        self.lit = True

    @always
    def dark(self) -> bool:
        """It stays dark, which is wrong."""
        return not_(self.lit)


class Stated(Lamp):
    """States what breaks."""

    breaks = ("dark",)


class SaysNothing(Stated):
    """Has a claim about what never happens."""

    @leads_to
    def opened(self) -> tuple[bool, bool]:
        """Who rings is let in."""
        return self.rung, self.lit


class StatesWhatSaysNothing(SaysNothing):
    """States that the claim breaks which says nothing."""

    breaks = ("dark", "opened")


class StatesTooMuch(Stated):
    """States that something breaks which holds."""

    breaks = ("dark", "silent")

    @always
    def silent(self) -> bool:
        """Nobody rings."""
        return not_(self.rung)


@pytest.mark.parametrize(
    ("protocol", "as_stated", "contradicted"),
    [
        (Stated, True, False),
        (Lamp, False, True),
        (SaysNothing, False, True),
        (StatesWhatSaysNothing, False, True),
        (StatesTooMuch, False, True),
    ],
)
def test_what_breaks_is_compared_with_what_is_stated(protocol, as_stated, contradicted):
    """A claim that says nothing is as nobody states it."""
    [found] = judge_variants([Variant("lamp", protocol())])

    assert found.as_stated is as_stated
    assert found.not_as_stated is contradicted


class Bulb(Part):
    """A bulb that spoils the dark, wherever it is."""

    breaks = ("dark",)


class Shade(Part):
    """Holds a bulb, and says nothing of what it breaks."""

    bulb = part(Bulb)


class Cover(Shade):
    """Holds a bulb, and keeps the dark."""

    breaks = ()


@pytest.mark.parametrize(("holder", "stated"), [(Shade, {"dark"}), (Cover, set())])
def test_a_part_states_what_the_parts_inside_it_break(holder, stated):
    """Where it states nothing, they do."""

    class Room(Protocol):
        """Has a part that may hold another."""

        lit = state(False)
        holder = part(Shade)

    assert Room(holder=holder).stated_breaks == stated


class Buzzer(Bulb):
    """A bulb that spoils the quiet, too, in a room and nowhere else."""

    breaks_in: ClassVar[Mapping[str, tuple[str, ...]]] = {"room": ("quiet",)}


def test_a_part_states_what_it_breaks_in_one_protocol_alone():
    """Those are properties that hold with it elsewhere; what extends it counts, too."""

    class Room(Protocol):
        """Has a place for a bulb."""

        lit = state(False)
        bulb = part(Bulb)

    class RoomAbove(Room):
        """The same, higher up."""

    class Hall(Protocol):
        """Has a place for a bulb."""

        lit = state(False)
        bulb = part(Bulb)

    assert Room(bulb=Buzzer).stated_breaks == {"dark", "quiet"}
    assert RoomAbove(bulb=Buzzer).stated_breaks == {"dark", "quiet"}
    assert Hall(bulb=Buzzer).stated_breaks == {"dark"}


class Shutter(Part):
    """Leaves the light in."""


class Blind(Shutter):
    """Keeps the light out."""


class Dimmer(Bulb):
    """A bulb that spoils the quiet, too, behind a blind."""

    breaks_in: ClassVar[Mapping[str, tuple[str, ...]]] = {"blind": ("quiet",)}


def test_a_part_states_what_it_breaks_beside_another_one():
    """That is stated where both are in their places."""

    class Room(Protocol):
        """Has a place for a bulb, and one for a shutter."""

        lit = state(False)
        bulb = part(Bulb)
        shutter = part(Shutter)

    assert Room(bulb=Dimmer, shutter=Blind).stated_breaks == {"dark", "quiet"}
    assert Room(bulb=Dimmer).stated_breaks == {"dark"}
    assert Room(shutter=Blind).stated_breaks == Room().stated_breaks


def test_what_parts_of_the_library_break_in_a_protocol_is_a_claim_of_it():
    """A name that is wrong would state nothing, and be missed by nobody."""
    kinds = protocols()
    listed = compositions()
    every = [*listed.found, *listed.several]
    stating = [kind for kind in parts_below(Part) if "breaks_in" in vars(kind)]

    assert stating
    for kind in stating:
        for label, names in kind.breaks_in.items():
            if label in kinds:
                protocol = kinds[label]()
            else:
                protocol = together(every, kind.label(), label)
            claims = {claim.name for claim in claims_of(protocol)}
            assert set(names) <= claims, kind


def together(every, *names):
    """Make the first protocol that has parts of these names."""
    one = next(c for c in every if set(names) <= set(c.settings.values()))
    return make(one.engine, one.changed)


def test_what_parts_of_the_library_break_together_does_break():
    """It is not stated of two parts that something breaks which holds."""
    kinds = protocols()
    listed = compositions()
    every = [*listed.found, *listed.several]
    pairs = [
        (kind, label, names)
        for kind in parts_below(Part)
        if "breaks_in" in vars(kind)
        for label, names in kind.breaks_in.items()
        if label not in kinds
    ]

    assert pairs
    for kind, label, names in pairs:
        verdicts = check(together(every, kind.label(), label)).verdicts
        assert all(verdicts[name] is Verdict.REFUTED for name in names), kind


def parts_below(kind):
    """Yield the classes of the library that extend a part."""
    for below in kind.__subclasses__():
        if below.__module__.startswith("onceproof.model.protocols."):
            yield below
        yield from parts_below(below)
