"""Networks without order, timers and epochs do what their papers assume of them."""

from __future__ import annotations

from enum import Enum
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
    epochs,
    implies,
    network,
    not_,
    param,
    sometimes,
    state,
    step,
    timers,
    when,
)
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.test_readers_agree import compare_successors


class Kind(Enum):
    """What a message is."""

    DATA = "data"
    ACK = "ack"


class Message(NamedTuple):
    """A numbered message."""

    kind: Kind
    number: int


class Bags(Protocol):
    """Numbers 1 to 3 are sent; each may be received whenever it likes."""

    P = Sort("receiver", size=2)
    N = Sort("number", size=3, ordered=True)
    losses = param(0)
    repeats = param(0)
    copies = param(1)

    sent = state(0, per=P, high=N)
    got = state(0, per=(P, N), high=2)
    net = network(
        Message(Kind.DATA, 0),
        per=P,
        high={"number": N},
        copies=copies,
        losses=losses,
        repeats=repeats,
    )

    @action(per=(P, N))
    def send(self, p: Member, n: Member) -> None:
        """Send the next number."""
        when(self.sent[p] == n)
        self.sent[p] = n + 1
        self.net[p].send(Message(Kind.DATA, n))

    @action(per=(P, N))
    def receive(self, p: Member, n: Member) -> None:
        """Take a number."""
        when(self.net[p].holds(Message(Kind.DATA, n)), self.got[p, n] < 2)
        self.net[p].receive(Message(Kind.DATA, n))
        self.got[p, n] = self.got[p, n] + 1

    @always
    def once(self) -> bool:
        """No number is received twice."""
        return all_of(self.got[p, n] <= 1 for p in self.P for n in self.N)

    @always
    def what_was_sent_is_there(self) -> bool:
        """A number that was sent is on its way, or received."""
        return all_of(
            implies(
                self.sent[p] > n,
                any_of(self.net[p].holds(Message(Kind.DATA, n)), self.got[p, n] > 0),
            )
            for p in self.P
            for n in self.N
        )

    @always
    def what_is_there_was_sent(self) -> bool:
        """No fault makes a message that nobody sent."""
        return all_of(
            implies(
                any_of(self.net[p].holds(Message(Kind.DATA, n)), self.got[p, n] > 0),
                self.sent[p] > n,
            )
            for p in self.P
            for n in self.N
        )

    @sometimes
    def overtakes(self) -> bool:
        """The last can be received before the first."""
        return any_of(
            all_of(self.got[p, self.N.last] == 1, self.got[p, self.N.first] == 0)
            for p in self.P
        )


class Bag2(Bags):
    """The same over a network with room for copies."""

    copies = param(2)


@pytest.mark.parametrize(
    ("kind", "faults", "broken"),
    [
        (Bags, {}, set()),
        (Bags, {"losses": 1}, {"what-was-sent-is-there"}),
        (Bag2, {}, set()),
        (Bag2, {"repeats": 1}, {"once"}),
    ],
)
def test_a_network_reorders_and_by_fault_loses_and_repeats(kind, faults, broken):
    """A repetition needs room for a copy; delay needs no fault at all."""
    protocol = kind(**faults)

    found = check(protocol)

    assert {n for n, v in found.verdicts.items() if not v.holds} == broken
    compare_successors(protocol)


def test_a_network_has_one_state_for_all_orders_of_sending():
    """The states of a bag of n messages are its subsets, not its orders."""
    found = check(Bags(P=2)).exploration

    subsets = sum(2**sent for sent in range(4))
    assert found is not None
    assert found.distinct == subsets**2


class TooWide(Protocol):
    """A message with too many kinds."""

    net = network(Message(Kind.DATA, 0), high={"number": 40})


class Unbounded(NamedTuple):
    """A message with a member in it."""

    to: Member


def test_what_cannot_be_numbered_is_refused():
    """Too many kinds, a member inside, or an integer without bound."""
    with pytest.raises(ModelError, match="82 kinds of message, and 64 is the most"):
        trace(TooWide())
    with pytest.raises(ModelError, match="as in member_of"):
        network(Unbounded(Member(0, Bags.P)))
    with pytest.raises(ModelError, match="needs high="):
        network(Message(Kind.DATA, 0))


class Lease(Protocol):
    """A holder writes under an epoch; its timer may run out while it still writes."""

    H = Sort("holder", size=2)
    R = Sort("register", size=1, ordered=True)

    lease = timers(H)
    term = epochs(R, high=2)
    mine = state(0, per=H, high=2)
    last = state(0, high=2)

    @action(per=H)
    def acquire(self, h: Member) -> None:
        """Begin a new epoch, when no timer runs."""
        when(all_of(not_(self.lease.running(x)) for x in self.H))
        self.term.next(self.R.first)
        self.mine[h] = self.term.current(self.R.first)
        self.lease.start(h)

    @action(per=H)
    def run_out(self, h: Member) -> None:
        """The lease is over, and its holder does not know."""
        self.lease.fire(h)

    @action(per=H)
    def write(self, h: Member) -> None:
        """Write, unless fenced off."""
        when(self.mine[h] > 0)
        when(self.admits(h))
        self.last = self.mine[h]

    def admits(self, h: Member) -> bool:
        """Whether a write is let through."""
        return self.term.admits(self.R.first, self.mine[h])

    @step
    def writes_in_order(self, after: Lease) -> bool:
        """No write of an old holder follows one of a new."""
        return self.last <= after.last


class Unfenced(Lease):
    """The same with nobody who compares epochs."""

    def admits(self, h: Member) -> bool:
        """Let all through."""
        return h == h  # noqa: PLR0124 - a modelled truth


def test_epochs_fence_off_a_holder_whose_timer_has_fired():
    """Without them it writes after the next holder."""
    fenced, unfenced = check(Lease()), check(Unfenced())

    assert fenced.verdicts["writes-in-order"] is Verdict.EXHAUSTED
    assert unfenced.verdicts["writes-in-order"] is Verdict.REFUTED
    compare_successors(Lease())
