"""Interleavings followed orbit by orbit have the classes and sizes of all states."""

from __future__ import annotations

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.interleavings import enumeration, interleavings, paths
from onceproof.model.interleavings.durable_state import (
    names_of,
)
from onceproof.model.interleavings.orbit_graph import OrbitGraph
from onceproof.model.interleavings.renaming_group import RenamingGroup
from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    fault,
    if_else,
    nobody,
    nobody_of,
    not_,
    one_of,
    state,
    when,
)
from onceproof.model.language.tracing.trace import trace
from onceproof.model.protocols.micro_batch import MicroBatch
from tests.model.interleavings.both_ways import MANY, same
from tests.model.interleavings.test_runs_by_hand import TooManyError, compare
from tests.model.random_runs import draw


class Handed(Protocol):
    """Workers of two kinds: a lock is handed on; a log is kept for each pair."""

    W = Sort("worker", size=3)
    D = Sort("disk", size=2)
    holder = state(nobody_of(W))
    last = state(nobody_of(W), volatile=True)
    had = state(False, per=(W, D))
    written = state(0, high=2, per=D)

    @action(per=W)
    def take(self, w: Member) -> None:
        """Take the lock, unless one is the last who had it."""
        when(self.holder == nobody, self.last != w)
        self.holder = w

    @action(per=(W, D))
    def write(self, w: Member, d: Member) -> None:
        """Write, and give the lock back."""
        when(self.holder == w, self.written[d] < 2)
        when(not_(self.had[w, d]))
        self.had[w, d] = True
        self.written[d] = self.written[d] + 1
        self.last = w
        self.holder = nobody

    @fault(per=D)
    def fill(self, d: Member) -> None:
        """A disk loses what it has, if someone was the last; the driver survives."""
        self.written[d] = if_else(self.last == nobody, self.written[d], 2)

    @fault
    def crash(self) -> None:
        """Forget who was last."""
        when(self.holder == nobody)
        self.lose_volatile()


class Rounds(Protocol):
    """In each of two rounds all workers write, one after the other; then it is closed.

    Nothing is left of the order in a round but the run itself.
    """

    W = Sort("worker", size=2)
    over = state(0, high=2)
    wrote = state(False, per=W)
    last = state(nobody_of(W))

    @action(per=W)
    def write(self, w: Member) -> None:
        """Write, once in a round."""
        when(self.over < 2, not_(self.wrote[w]))
        self.wrote[w] = True
        self.last = w

    @action
    def close(self) -> None:
        """Go on to the next round."""
        when(self.over < 2, all_of(self.wrote[w] for w in self.W))
        self.over = self.over + 1
        self.last = nobody
        self.wrote.set(lambda w: False)

    @fault
    def crash(self) -> None:
        """Change nothing but the budget."""
        self.lose_volatile()


class Moods(Rounds):
    """Workers begin in one of two moods."""

    glad = state(one_of(False, True), per=Rounds.W)


CASES = [
    pytest.param(Moods(), id="moods"),
    pytest.param(Rounds(), id="rounds"),
    pytest.param(Rounds(faults=2, W=3), id="rounds of three", marks=pytest.mark.grid),
    pytest.param(Handed(faults=1), id="handed"),
    pytest.param(Handed(faults=2, W=2), id="handed twice"),
    pytest.param(MicroBatch(faults=2), id="micro-batch"),
    pytest.param(MicroBatch(faults=2, PARTITION=3, BATCH=1), id="three partitions"),
    pytest.param(
        MicroBatch(faults=2, PARTITION=4, ATTEMPT=3), id="four", marks=pytest.mark.grid
    ),
    pytest.param(
        MicroBatch(faults=3, PARTITION=3, ATTEMPT=4), id="three", marks=pytest.mark.grid
    ),
]


@pytest.mark.parametrize("protocol", CASES)
def test_orbits_have_the_classes_of_states(protocol, monkeypatch):
    """Each class once, with the same size, and a run of it that plain Python takes."""
    assert same(protocol, monkeypatch) > 1


@pytest.mark.parametrize(
    "block",
    [pytest.param(b, marks=[] if b < 3 else pytest.mark.grid) for b in range(60)],
)
def test_orbits_lose_no_history_of_random_protocols(block, monkeypatch):
    """Classes are those of all runs, one by one, as they are state by state."""
    monkeypatch.setattr(enumeration, "FEW_STATES", 0)
    listed = 0
    for seed in range(10 * block, 10 * (block + 1)):
        drawn = draw(seed)
        (sort,) = [s for s in drawn.protocol.sizes if s.text == "thing"]
        if drawn.protocol.sizes[sort] == 1:
            continue
        try:
            listed += compare(drawn) > 1
        except TooManyError:
            continue
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise

    assert listed >= 1


def test_many_orbits_are_followed_where_there_are_too_many_states():
    """Four partitions and two faults: a sixteenth of the states."""
    protocol = MicroBatch(faults=2, PARTITION=4, ATTEMPT=3, BATCH=1)
    system = trace(protocol)
    names = names_of(system)

    states = OrbitGraph(system, RenamingGroup(system, names[:1]), MANY)
    orbits = OrbitGraph(system, RenamingGroup(system, names), MANY)

    assert len(names) == 24
    assert orbits.count < enumeration.FEW_STATES < states.count
    of_each = [24 // len(orbits.kinds[kind]) for kind in orbits.kind.tolist()]
    assert sum(of_each) == states.count


def test_too_many_kinds_of_paths_are_refused(monkeypatch):
    """It says what to do, and does not go on until memory runs out."""
    monkeypatch.setattr(paths, "MOST_PLACES", 100)

    with pytest.raises(UsageError, match=r"more than 100 kinds of paths.*smaller ones"):
        interleavings(MicroBatch(faults=2))


def test_too_many_orbits_are_refused(monkeypatch):
    """Neither states nor orbits are few enough."""
    monkeypatch.setattr(enumeration, "FEW_STATES", 10)
    monkeypatch.setattr(enumeration, "MOST_STATES", 20)

    with pytest.raises(UsageError, match=r"more than 20 states.*smaller ones"):
        interleavings(MicroBatch(faults=2))


def test_where_names_swap_in_too_many_ways_the_refusal_says_so(monkeypatch):
    """Seven partitions are seven times as many ways as six."""
    monkeypatch.setattr(enumeration, "MOST_STATES", 20)

    with pytest.raises(UsageError, match="more than 720 ways to swap names"):
        interleavings(MicroBatch(PARTITION=7))


def test_a_run_of_another_class_is_an_error_and_no_result(monkeypatch):
    """What is listed as a class is a run of it."""
    one = paths.Paths._one
    first: list[int] = []

    def always_the_first(self, place):
        first.append(place)
        return one(self, first[0])

    monkeypatch.setattr(paths.Paths, "_one", always_the_first)

    with pytest.raises(RuntimeError, match="of another class"):
        interleavings(Moods())


def test_how_far_it_is_is_told():
    """While runs are followed, and while each class gets one."""
    news: list[str] = []

    found = interleavings(MicroBatch(faults=2, PARTITION=3, ATTEMPT=3), news.append)

    assert len(found.classes) < 1000
    rows = [int(one.split()[4].replace(",", "")) for one in news]
    assert rows == list(range(0, 1000 * len(rows), 1000))
    assert all(one.endswith("of 7,795 states") for one in news)
