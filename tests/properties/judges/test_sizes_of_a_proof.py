"""A proof is for every size, unless it knows but one size of what could have others."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    member_of,
    network,
    state,
    when,
)
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.verdicts import Verdict


class Numbered(NamedTuple):
    """A message about an event, with a number."""

    event: Member
    number: int


class Number(NamedTuple):
    """A message that is only a number."""

    number: int


class Sending(Protocol):
    """Each event is sent once."""

    EVENT = Sort("event")

    sent = state(0, per=EVENT, high=2)

    @action(per=EVENT)
    def send(self, e: Member) -> None:
        when(self.sent[e] == 0)
        self.sent[e] = 1
        self.post(e)

    def post(self, e: Member) -> None:
        """Put the event on its way."""

    @always
    def once(self) -> bool:
        """No event is sent twice."""
        return all_of(self.sent[e] < 2 for e in self.EVENT)


class FixedKinds(Sending):
    """The network has as many kinds of message as its class says."""

    net = network(Numbered(member_of(Sending.EVENT), 0), high=3)

    def post(self, e: Member) -> None:
        self.net.only.send(Numbered(e, 1))


class KindsPerEvent(FixedKinds):
    """The more events there are, the more numbers are in a message."""

    net = network(Numbered(member_of(Sending.EVENT), 0), high=Sending.EVENT)


class FixedPlaces(Sending):
    """Two messages are on their way at once."""

    net = network(Number(0), per=Sending.EVENT, in_flight=2, high=3)

    def post(self, e: Member) -> None:
        self.net[e].send(Number(1))


class ChosenPlaces(FixedPlaces):
    """How many messages are on their way at once can be chosen."""

    SLOT = Sort("slot", ordered=True)

    net = network(Number(0), per=Sending.EVENT, in_flight=SLOT, high=3)


@pytest.mark.parametrize("kind", [Sending, FixedKinds, FixedPlaces])
def test_what_the_class_says_is_no_size_that_was_given(kind):
    """There is no other number of kinds, and the places are among the bounds."""
    [found] = [f for f in prove(kind()).findings if f.property.name == "once"]

    assert found.verdict is Verdict.PROVED
    assert found.note == "inductive for every number of members of EVENT"
    assert ("net.in_flight=2" in found.bounds) is (kind is FixedPlaces)


@pytest.mark.parametrize(
    ("kind", "sizes"), [(KindsPerEvent, "MESSAGE=3"), (ChosenPlaces, "SLOT=2")]
)
def test_a_size_that_could_be_another_keeps_the_proof_from_every_size(kind, sizes):
    """Only a sort without order may have any number of members in a proof."""
    [found] = [f for f in prove(kind()).findings if f.property.name == "once"]

    assert found.verdict is Verdict.EXHAUSTED
    assert found.note.endswith(f"the ordered sorts have the sizes {sizes}")
