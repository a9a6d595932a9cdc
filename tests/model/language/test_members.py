"""State, messages and claims that hold members of a sort, or nobody."""

from __future__ import annotations

import itertools
import math
import sys
from typing import NamedTuple

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    by_member,
    channels,
    fault,
    if_else,
    implies,
    lemma,
    max_of,
    member_of,
    network,
    nobody,
    nobody_of,
    one_of,
    sometimes,
    state,
    step,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import load
from onceproof.model.traces import follow
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from onceproof.properties.words.labels import Labels
from onceproof.properties.words.messages import messages_of
from tests.model.test_readers_agree import compare_successors


class Lock(Protocol):
    """A lock with an owner, a leader, and votes for one another."""

    N = Sort("node", size=3)

    owner = state(nobody_of(N))
    leader = state(member_of(N))
    vote = state(nobody_of(N), per=N)
    busy = state(False, per=N)

    @action(per=N)
    def acquire(self, n: Member) -> None:
        """Take the lock."""
        when(self.owner == nobody)
        self.owner = n
        self.busy[n] = True

    @action
    def release(self) -> None:
        """Give the lock back."""
        when(self.owner != nobody)
        self.busy[self.owner] = False
        self.owner = nobody

    @action(per=(N, N))
    def cast_vote(self, n: Member, m: Member) -> None:
        """Vote for a node, once."""
        when(self.vote[n] == nobody)
        self.vote[n] = m

    @action
    def follow(self) -> None:
        """The node that the leader votes for leads."""
        when(self.vote[self.leader] != nobody)
        self.leader = self.vote[self.leader]

    @fault(per=N)
    def forget(self, n: Member) -> None:
        """A vote is forgotten."""
        self.vote[n] = nobody

    @lemma
    def the_owner_is_busy(self) -> bool:
        """Who has the lock is busy, and nobody else."""
        return all_of((self.owner == n) == self.busy[n] for n in self.N)

    @always
    def one_is_busy(self) -> bool:
        """No two nodes are busy."""
        return all_of(
            implies(all_of(self.busy[n], self.busy[m]), n == m)
            for n in self.N
            for m in self.N
        )

    @step
    def is_not_handed_on(self, after: Lock) -> bool:
        """The lock is free between two owners."""
        return any_of(
            self.owner == nobody, after.owner == nobody, self.owner == after.owner
        )

    @sometimes
    def all_vote_for_one(self) -> bool:
        """All may vote for one node."""
        return any_of(all_of(self.vote[n] == m for n in self.N) for m in self.N)


def renamed(name: tuple[int, ...], one: tuple[int, int, tuple[int, ...]]):
    """Rename the nodes in an owner, a leader and votes; -1 is nobody."""
    owner, leader, votes = one

    def new(m):
        return m if m < 0 else name[m]

    moved = [0] * len(votes)
    for n, vote in enumerate(votes):
        moved[name[n]] = new(vote)
    return (new(owner), new(leader), tuple(moved))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_states_and_orbits_are_as_many_as_counted_by_hand(size):
    """Owners, leaders and votes are free of one another, and so is the fault's use."""
    found = check(Lock(N=size)).exploration

    anyone = range(-1, size)
    worlds = list(
        itertools.product(anyone, range(size), itertools.product(anyone, repeat=size))
    )
    assert found.distinct == 2 * len(worlds) == 2 * size * (size + 1) ** (size + 1)
    if size == 1:
        return
    orbits = {
        min(renamed(name, world) for name in itertools.permutations(range(size)))
        for world in worlds
    }
    reduced = check(Lock(N=size), symmetry=True)
    assert reduced.exploration.distinct == 2 * len(orbits)
    assert reduced.verdicts == check(Lock(N=size)).verdicts


def test_every_reader_takes_the_same_steps():
    """Plain Python, native code and z3 agree."""
    compare_successors(Lock(N=2))
    report = prove(Lock(N=2), depth=3)

    assert report.verdicts["all-vote-for-one"] is Verdict.BOUNDED


def test_claims_about_members_are_proved_for_every_number_of_them():
    """Also where nodes vote for nodes, which is a function of the sort to itself."""
    report = prove(Lock(), depth=2)

    assert report.verdicts["one-is-busy"] is Verdict.PROVED
    assert report.verdicts["is-not-handed-on"] is Verdict.PROVED


class Stolen(Lock):
    """The same, and the lock can be taken from its owner."""

    @action(per=Lock.N)
    def acquire(self, n: Member) -> None:
        """Take the lock, whoever has it."""
        self.owner = n
        self.busy[n] = True


def test_what_does_not_hold_is_refuted_by_all():
    """The search with and without symmetry, and z3."""
    broken = {"one-is-busy", "is-not-handed-on", "the-owner-is-busy"}

    for report in (check(Stolen()), check(Stolen(), symmetry=True), prove(Stolen())):
        refuted = {n for n, v in report.verdicts.items() if v is Verdict.REFUTED}
        assert refuted == broken


class Vote(NamedTuple):
    """A vote on its way."""

    sender: Member
    receiver: Member
    granted: bool


class Hint(NamedTuple):
    """Who leads, as the sender knows."""

    sender: Member
    leader: Member


class Election(Protocol):
    """Nodes ask for votes over a network, and hear who leads over channels."""

    N = Sort("node", size=2)

    voted = state(nobody_of(N), per=N)
    leader = state(nobody_of(N))
    net = network(Vote(member_of(N), member_of(N), granted=False), losses=1)
    link = channels(Hint(member_of(N), nobody_of(N)), per=N, length=2, repeats=1)
    known = state(nobody_of(N), per=(N, N))

    @action(per=(N, N))
    def ask(self, n: Member, m: Member) -> None:
        """Ask for a vote."""
        when(n != m)
        self.net.only.send(Vote(n, m, granted=False))

    @action(per=(N, N))
    def grant(self, n: Member, m: Member) -> None:
        """Vote for who asks, unless the vote is given."""
        when(any_of(self.voted[m] == nobody, self.voted[m] == n))
        self.net.only.receive(Vote(n, m, granted=False))
        self.voted[m] = n
        self.link[n].send(Hint(m, self.leader))

    @action(per=N)
    def hear(self, n: Member) -> None:
        """Learn from a message: its sender is a member, and never nobody."""
        hint = self.link[n].receive()
        self.known[n, hint.sender] = hint.leader
        self.leader = n

    @always
    def nobody_votes_twice(self) -> bool:
        """Whoever voted for a node was asked by it."""
        return all_of(self.voted[n] != n for n in self.N)


def test_messages_hold_members():
    """A network and a channel carry them; symmetry finds half as many, or some more."""
    whole, reduced = check(Election()), check(Election(), symmetry=True)

    assert whole.verdicts["nobody-votes-twice"] is Verdict.EXHAUSTED
    assert reduced.verdicts == whole.verdicts
    states = whole.exploration.distinct
    assert math.ceil(states / 2) <= reduced.exploration.distinct < states * 0.55
    compare_successors(Election())


def test_a_message_is_shown_with_its_members():
    """By the names of its parts, in a network and in a channel."""
    reference = Interpreter(Election())
    events = {str(event): event for event in reference.events()}
    start = next(iter(reference.initial_states()))
    names = ("ask(0, 1)", "grant(0, 1)", "hear(0)")
    run = follow(reference, start, tuple(events[name] for name in names))

    texts = [message.text for message in messages_of(reference, run, set())]
    lost = Labels(reference).event(events["net.lose(0, 1, 0)"], run.states[1])

    assert texts == [
        "sender node 0, receiver node 1, granted no",
        "sender node 1, leader nobody",
    ]
    assert "sender node 0, receiver node 1, granted no" in lost
    assert run.states[-1][0] == nobody
    assert [str(value) for value in run.states[-1][:3]] == ["nobody", "N0", "N0"]


def test_a_start_may_be_any_member_or_nobody():
    """One state for each; by_member gives each its own."""

    class Starts(Protocol):
        """Three starts."""

        N = Sort("node", size=3)
        one = state(one_of(nobody_of(N), member_of(N)))
        own = state(by_member(lambda n: n), per=N)

    starts = list(Interpreter(Starts()).initial_states())

    assert [str(one) for one, *_ in starts] == ["nobody", "N0", "N1", "N2"]
    assert {own for _, *own in map(tuple, starts) for own in [tuple(own)]} == {
        (0, 1, 2)
    }


class Sized(Protocol):
    """Counters that are bounded by sizes, and some more or less."""

    N = Sort("node", size=3)

    more = state(0, high=N + 1)
    less = state(0, high=N - 1)

    @action
    def count_more(self) -> None:
        """Count up to the bound."""
        when(self.more < 4)
        self.more = self.more + 1

    @always
    def within(self) -> bool:
        """The bound is the size and one more."""
        return self.more <= 4


def test_a_bound_may_be_a_size_and_some_more():
    """No proof is then for every size, since the size says what there is."""
    fields = {field.path: str(field.type) for field in trace(Sized()).fields}
    (finding,) = prove(Sized(), depth=5).findings

    assert fields == {"more": "0..4", "less": "0..2"}
    assert finding.verdict is Verdict.EXHAUSTED
    assert "the model uses the number of members of N" in finding.note


HEAD = """\
from typing import NamedTuple
from onceproof.model.language import *

class Hint(NamedTuple):
    leader: Member

class Bad(Protocol):
    N = Sort("node")
    O = Sort("place", ordered=True)
    M = Sort("other")
    who = state(nobody_of(N))
    sure = state(member_of(N))
    turn = state(nobody_of(O))
    flag = state(False, per=N)
"""

REFUSED = {
    "    x = state(nobody)": "declare it by its sort",
    "    x = state(one_of(nobody_of(N), member_of(M)))": "several types",
    "    x = state(one_of(nobody_of(N), 3))": "several types",
    "    x = state(member_of(3))": "member_of() takes a sort",
    "    link = channels(Hint(Member(0, N)), length=1)": "as in member_of(PROCESS)",
    "    net = network(Hint(nobody_of(N)))": "in_flight=",
    "    net = network(Hint(member_of(N)), in_flight=2)": "which has no order",
    "    x = state(False, per=range(3))": 'KIND = Sort("kind", size=3, ordered=True)',
    "    x = state(False, per=bool)": 'KIND = Sort("kind", size=2, ordered=True)',
    "        self.flag[self.who] = True": "may be nobody; guard it",
    "        self.sure = self.who": "this may be nobody; guard the action",
    "        self.sure = nobody": "this may be nobody; guard the action",
    "        when(self.who < self.sure)": "needs integers",
    "        when(self.turn == 1)": "cannot compare",
    "        when(nobody < 3)": "nobody is no number",
    "        self.who = nobody + 1": "nobody is no number",
    "        when(self.who is nobody)": "use == or !=",
    "        when(self.who == 0)": "cannot compare",
    "        self.who = 0": "who holds member of N or nobody",
    "        self.turn = 7": "turn holds member of O or nobody",
    "        when(any_of(self.who == m for m in self.M))": "cannot compare",
    "        when(self.who == None)": "declare nobody_of(SORT) and write nobody",
    "        when(self.flag[self.sure] == 'yes')": "as a member of an Enum",
    "        when(self.who == Hint(nobody))": "compare a message part by part",
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_no_member_can_be_is_refused_with_its_line(tmp_path, line):
    """When the model is made or traced, before any verdict."""
    path = tmp_path / "bad.py"
    inside = line.startswith("        ")
    method = "    @action\n    def act(self):\n" if inside else ""
    path.write_text(f"{HEAD}{method}{line}\n", encoding="utf-8")
    scope: dict = {"__name__": "bad"}

    def judged() -> None:
        exec(compile(path.read_text(), str(path), "exec"), scope)
        trace(scope["Bad"]())

    with pytest.raises(ModelError) as caught:
        judged()

    assert REFUSED[line] in str(caught.value)


SLIP = """
import operator

import elsewhere
from elsewhere import without_owner
from onceproof.model.language import *


class Slip(Protocol):
    N = Sort("node", size=2)
    owner = state(nobody_of(N))

    @action(per=N)
    def acquire(self, n):
        when(self.owner == nobody)
        self.owner = n

    @always
    def claim(self):
        {body}
"""


@pytest.mark.parametrize(
    "body",
    [
        "return self.owner is not None",
        "return self.owner is not nobody",
        "return False if self.owner is None else True",
        "return not_(operator.is_(self.owner, nobody))",
        "return not_(without_owner(self.owner))",
        "return not_(elsewhere.without_owner(self.owner))",
    ],
)
def test_identity_decides_nothing_about_nobody(tmp_path, monkeypatch, body):
    """Each says that there is an owner, which is false from the start."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "elsewhere", raising=False)
    helper = "def without_owner(owner):\n    return owner is None\n"
    (tmp_path / "elsewhere.py").write_text(helper)
    (tmp_path / "slip.py").write_text(SLIP.format(body=body))

    with pytest.raises(ModelError, match=r"plain Python|`is` would be decided"):
        check(load(tmp_path / "slip.py").Slip())


class Chosen(Protocol):
    """An index is chosen between members of two ordered sorts."""

    A = Sort("a", size=5, ordered=True)
    B = Sort("b", size=2, ordered=True)
    rare = state(False)
    done = state(False, per=B)


@pytest.mark.parametrize(
    "index",
    [
        lambda self, a, b: if_else(self.rare, a, b),
        lambda self, a, b: max_of(a, b),
        lambda self, a, b: Member(2, Chosen.B),
    ],
    ids=["if_else", "max_of", "constant"],
)
def test_an_index_that_may_lie_outside_is_refused(index):
    """Whatever its sort is said to be: nothing lies there."""

    @action(per=(Chosen.A, Chosen.B))
    def hit(self, a, b):
        self.done[index(self, a, b)] = True

    kind = type("Outside", (Chosen,), {"hit": hit, "__module__": __name__})

    with pytest.raises(ModelError, match=r"outside 0\.\.1 of B"):
        trace(kind())


def test_no_member_has_a_number_below_zero():
    """The one that nobody has is not to be had by accident."""
    with pytest.raises(ModelError, match="numbered from 0"):
        Member(-1, Lock.N)


class Guarded(Protocol):
    """What keeps an index inside is one condition, and what reads there another."""

    N = Sort("node", size=20)
    owner = state(nobody_of(N))
    epoch = state(0, per=N, high=2 * 10**6)

    @action(per=N)
    def acquire(self, n: Member) -> None:
        """Take it."""
        when(self.owner == nobody)
        self.owner = n

    @action(per=N)
    def work(self, n: Member) -> None:
        """The owner works, twice at most."""
        when(self.owner == n)
        when(self.epoch[self.owner] < 2)
        self.epoch[self.owner] += 1


def test_a_condition_that_reads_by_an_index_reads_inside_the_state():
    """In whatever order conditions are worked out: 1 + 20 owners, each with 0 to 2."""
    found = check(Guarded(), [])

    assert found.exploration.distinct == 1 + 20 * 3
