"""TLC finds in each newer construct of the language what the search finds."""

from __future__ import annotations

from enum import Enum

import pytest

from onceproof.model.language import (
    Member,
    Part,
    Protocol,
    Sort,
    action,
    always,
    eventually,
    first_of,
    last_of,
    leads_to,
    max_of,
    min_of,
    nobody,
    not_,
    old,
    param,
    part,
    sometimes,
    state,
    step,
    when,
)
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.language.composition.per_member import OneOfThemStops
from tests.model.language.declarations.records import Leases
from tests.spark_checks.cli.test_export import agrees


class StatedLeases(Leases):
    """Records, of which two claims break."""

    breaks = ("differ", "grows")


class StatedStop(OneOfThemStops):
    """Two drivers, of whom one stops: a part per member."""

    breaks = ("at-least-once", "effectively-once", "recoverable")


class Phase(Enum):
    """What a worker does."""

    IDLE = "idle"
    BUSY = "busy"


class Worker(Part):
    """Works, and rests."""

    phase = state(Phase.IDLE)

    @action
    def work(self) -> None:
        """Begin to work."""
        when(self.phase == Phase.IDLE)
        self.phase = Phase.BUSY


class Rooms(Protocol):
    """Workers who take the first room and leave the last, counted as they go."""

    W = Sort("worker", size=1)
    ROOM = Sort("room", size=2, ordered=True)
    most = param(1)

    breaks = ("fills-up", "ends")

    workers = part(Worker, per=W)
    taken = state(False, per=ROOM)
    visits = state(0, per=ROOM, high=most)
    high = state(0, high=3)
    low = state(0, high=3)

    @action(per=W)
    def enter(self, w: Member) -> None:
        """Take the first room that is free."""
        free = first_of(self.ROOM, lambda r: not_(self.taken[r]))
        when(self.workers[w].phase == Phase.BUSY, free != nobody)
        self.taken[free] = True
        self.workers[w].phase = Phase.IDLE

    @action
    def leave(self) -> None:
        """Leave the last room that is taken, and count the visit."""
        full = last_of(self.ROOM, lambda r: self.taken[r])
        when(full != nobody)
        when(self.visits[full] < self.most)
        self.taken[full] = False
        self.visits[full] = self.visits[full] + 1

    @action
    def note(self) -> None:
        """Note the most and the fewest visits, where that is news."""
        self.high = max_of(self.visits[r] for r in self.ROOM)
        self.low = min_of(self.visits[r] for r in self.ROOM)

    @always(per=bool)
    def is_noted_in_order(self, strictly: bool) -> bool:
        """The fewest are not more than the most, nor a visit more than that."""
        return self.low <= self.high + (1 if strictly else 0)

    @sometimes(per=(W, Phase))
    def is_in(self, w: Member, phase: Phase) -> bool:
        """Each worker is in each phase."""
        return self.workers[w].phase == phase

    @step(per=range(2))
    def counts_up(self, room: int, after: Rooms) -> bool:
        """No visit is forgotten."""
        at = Member(room, Rooms.ROOM)
        return self.visits[at] <= after.visits[at]

    @leads_to(per=Phase)
    def ends(self, phase: Phase) -> tuple[bool, bool]:
        """Nobody has to do anything, so that nobody ends in any phase."""
        worker = self.workers[Member(0, Rooms.W)]
        return worker.phase == phase, worker.phase != phase

    @eventually
    def fills_up(self) -> bool:
        """Not unless something is fair."""
        return self.visits[self.ROOM.first] == self.most


class FairRooms(Rooms, W=2, most=2):
    """All is fair, and there are more workers; guards come after effects."""

    breaks = ()
    fair_actions = ("*",)
    seen = state(0, high=1)
    ends = None
    is_in = None

    @action(per=Rooms.W)
    def enter(self, w: Member) -> None:
        """Be seen first: the guard of the class before sees it."""
        when(self.seen == 0)
        self.seen = 1
        super().enter(w)

    @action
    def leave(self) -> None:
        """Be seen no more, and keep what was there before."""
        self.seen = 0
        super().leave()
        self.low = old(self).low

    @action
    def note(self) -> None:
        """Noted once, where nobody is seen."""
        when(self.seen == 0)
        super().note()


PROTOCOLS = (StatedLeases(), StatedStop(), Rooms(), FairRooms())


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: one.label())
def test_each_breaks_what_it_states(protocol):
    """So TLC is asked for what is refuted as well as for what holds."""
    verdicts = check(protocol).verdicts

    refuted = {name for name, found in verdicts.items() if found is Verdict.REFUTED}
    assert refuted == protocol.stated_breaks
    assert Verdict.VACUOUS not in verdicts.values()


@pytest.mark.tlc
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: one.label())
def test_tlc_counts_and_judges_the_newer_constructs_as_the_search_does(
    tmp_path, protocol
):
    """Parts per member, claims per value, choices, old values, records, fairness."""
    assert agrees(protocol, tmp_path) == []
