"""A network that bounds what is in flight is the bag that its papers assume."""

from __future__ import annotations

import random
from collections import Counter
from enum import Enum
from typing import Any, NamedTuple

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    network,
    not_,
    param,
    sometimes,
    state,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.trace import trace
from onceproof.model.traces import follow
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from onceproof.properties.words.labels import Labels
from onceproof.properties.words.messages import messages_of
from tests.model.language.parts.test_networks import Bags, Kind, Message
from tests.model.test_readers_agree import compare_successors


class Sorted(Bags):
    """The numbers of ``Bags`` over a network with room for all that is ever sent."""

    net = network(
        Message(Kind.DATA, 0),
        per=Bags.P,
        in_flight=4,
        high={"number": Bags.N},
        copies=Bags.copies,
        losses=Bags.losses,
        repeats=Bags.repeats,
    )


@pytest.mark.parametrize(
    "numbers",
    [
        {},
        {"losses": 1},
        {"copies": 2},
        {"repeats": 1, "copies": 2},
        {"losses": 1, "repeats": 1, "copies": 2, "faults": 2},
    ],
)
def test_where_there_is_room_for_all_both_kinds_of_network_are_one(numbers):
    """As many states, as deep, with the same verdicts."""
    counted, sorted_ = check(Bags(**numbers)), check(Sorted(**numbers))

    assert sorted_.exploration.distinct == counted.exploration.distinct
    assert sorted_.exploration.depth == counted.exploration.depth
    assert sorted_.verdicts == counted.verdicts
    compare_successors(Sorted(P=1, **numbers))


class Colour(Enum):
    """Three values."""

    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Card(NamedTuple):
    """A message of three parts, of 1,206 kinds."""

    colour: Colour
    urgent: bool
    number: int


class Desk(Protocol):
    """All that can be done to a network, with more kinds than a word has bits."""

    N = Sort("number", size=3, ordered=True)
    SLOT = Sort("place of a card", size=3, ordered=True)

    most = param(3)
    taken = state(0, high=200)
    net = network(
        Card(Colour.RED, False, 0),
        in_flight=SLOT,
        high=200,
        copies=2,
        losses=1,
        repeats=1,
    )

    @action(per=N)
    def send(self, n: Member) -> None:
        """Send a card that depends on what was taken before."""
        self.net.only.send(Card(Colour.GREEN, self.taken == 100, n + 100))

    @action(per=N)
    def send_low(self, n: Member) -> None:
        """Send a card that goes before those."""
        self.net.only.send(Card(Colour.RED, True, n))

    @action(per=SLOT)
    def take(self, place: Member) -> None:
        """Take any card."""
        self.taken = self.net.only.take(place).number

    @action
    def receive(self) -> None:
        """Take a certain card."""
        self.net.only.receive(Card(Colour.GREEN, False, 101))

    @action
    def answer(self) -> None:
        """Take a card, and send another in the same step."""
        self.net.only.receive(Card(Colour.RED, True, 1))
        self.net.only.send(Card(Colour.GREEN, False, 100))

    @action
    def clear(self) -> None:
        """Take all cards of a kind, if there are any."""
        when(self.net.only.used > 1)
        self.net.only.clear(Card(Colour.RED, True, 2))

    @always
    def empty_holds_none(self) -> bool:
        """An empty desk holds no card."""
        return all_of(
            not_(self.net.only.empty & there) for there, _ in self.net.only.messages()
        )

    @sometimes
    def full(self) -> bool:
        """Two cards that are alike can lie beside another."""
        return all_of(
            self.net.only.used == 3,
            self.net.only.holds(Card(Colour.RED, True, 2)),
            *(
                card.colour == Colour.RED
                for place, (_, card) in enumerate(self.net.only.messages())
                if place < 2
            ),
        )


World = tuple[Any, int, int, int, int]


def by_hand(world: World) -> list[World]:
    """Step a desk as a multiset; nothing here comes from the language."""
    bag, taken, faults, lost, again = world
    cards = Counter(dict(bag))
    found: list[World] = []

    def reach(new: Counter[Any], taken_: int = taken, *, harm: str = "") -> None:
        left = tuple(sorted((card, n) for card, n in new.items() if n))
        more = (faults + bool(harm), lost + (harm == "lost"), again + (harm == "again"))
        found.append((left, taken_, *more))

    def sent(start: Counter[Any], card: Any) -> Counter[Any] | None:
        room = start.total() < 3 and start[card] < 2
        return start + Counter([card]) if room else None

    for n in range(3):
        for card in (("green", taken == 100, n + 100), ("red", True, n)):
            if (new := sent(cards, card)) is not None:
                reach(new)
    for card in cards:
        reach(cards - Counter([card]), card[2])
        if not faults and not lost:
            reach(cards - Counter([card]), harm="lost")
        if not faults and not again and (new := sent(cards, card)) is not None:
            reach(new, harm="again")
    if cards["green", False, 101]:
        reach(cards - Counter([("green", False, 101)]))
    if cards["red", True, 1]:
        new = sent(cards - Counter([("red", True, 1)]), ("green", False, 100))
        if new is not None:
            reach(new)
    if cards.total() > 1:
        reach(Counter({c: n for c, n in cards.items() if c != ("red", True, 2)}))
    return found


def test_a_desk_is_the_multiset_that_it_should_be():
    """Native code finds as many states, at the same depth, as a search by hand."""
    found = check(Desk())

    world: World = ((), 0, 0, 0, 0)
    far, todo = {world: 1}, [world]
    for at in todo:
        for after in by_hand(at):
            if after not in far:
                far[after] = far[at] + 1
                todo.append(after)
    assert found.exploration.distinct == len(far)
    assert found.exploration.depth == max(far.values())
    assert all(v is Verdict.EXHAUSTED for v in found.verdicts.values())


@pytest.mark.ci
def test_z3_agrees():
    """What the search finds, z3 finds to a depth."""
    report = prove(Desk(), depth=3)

    assert report.verdicts["empty-holds-none"].holds
    assert report.verdicts["full"].holds


def test_a_run_names_each_message_by_its_content():
    """Whatever place a message is sorted into, it is seen to be sent and taken."""
    reference = Interpreter(Desk())
    chance = random.Random(4)
    state_ = next(iter(reference.initial_states()))
    start, events = state_, []
    cards: Counter[str] = Counter()
    for _ in range(40):
        moves = [(e, s) for e, s in reference.successors(state_) if s != state_]
        event, state_ = chance.choice([m for m in moves if not m[0].fault])
        events.append(event)
    run = follow(reference, start, tuple(events))

    for message in messages_of(reference, run, set()):
        cards[message.text] += 1
        sender = run.events[message.sent - 1].name
        assert sender in ("send", "send_low", "answer")
        assert message.text.startswith("red") == (sender == "send_low")
        if message.taken:
            before = run.states[message.taken - 1]
            taker = run.events[message.taken - 1]
            if taker.name == "receive":
                assert message.text == "green urgent no, number 101"
            if taker.name == "take":
                after = dict(
                    zip(
                        [f.path for f, _ in reference.places],
                        run.states[message.taken],
                        strict=True,
                    )
                )
                assert message.text.endswith(f"number {after['taken']}"), before
    assert cards


def test_a_fault_of_a_network_is_labelled_by_the_message():
    """Not by the place where it lies."""
    reference = Interpreter(Desk())
    start = next(iter(reference.initial_states()))
    names = {str(event): event for event in reference.events()}
    after = reference.after(start, names["send_low(2)"])

    label = Labels(reference).event(names["net.lose(0)"], after)

    assert label == "net.lose(red urgent yes, number 2)"


class Wide(Protocol):
    """Too many kinds to count each."""

    net = network(Message(Kind.DATA, 0), high={"number": 40})


def test_what_is_no_bag_is_refused_with_a_fix():
    """Too many kinds without in_flight=, a sort without order, or no room at all."""
    with pytest.raises(ModelError, match="in_flight="):
        trace(Wide())
    with pytest.raises(ModelError, match="ordered=True"):
        network(Message(Kind.DATA, 0), high=4, in_flight=Bags.P)
    with pytest.raises(ModelError, match="room for, not 0"):
        network(Message(Kind.DATA, 0), high=4, in_flight=0)
