"""Exclusion by clocks: Lamport, Time, Clocks, and the Ordering of Events, 1978."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    channels,
    implies,
    max_of,
    param,
    sometimes,
    state,
    when,
)


class Kind(Enum):
    """What a message is."""

    REQUEST = "request"
    ACK = "ack"
    RELEASE = "release"


class Message(NamedTuple):
    """A message; one that is no request has the clock 0."""

    kind: Kind
    clock: int


class LamportMutex(Protocol):
    """Processes that take turns by the clocks of their requests.

    The record and the sequences are those of LamportMutex.tla of tlaplus/Examples. Its
    constraint on clocks is a guard here.
    """

    P = Sort("process", size=3, ordered=True)
    most = param(6, "how far clocks go")

    clock = state(1, per=P, high=most)
    asked = state(0, per=(P, P), high=most)
    agreed = state(False, per=(P, P))
    inside = state(False, per=P)
    network = channels(Message(Kind.REQUEST, 0), per=(P, P), length=3, high=most)

    @action(per=P)
    def request(self, p: Member) -> None:
        """A process asks all others, at the time of its clock."""
        when(self.asked[p, p] == 0)
        now = self.clock[p]
        self.asked[p, p] = now
        self.agreed.where(lambda r, _: r == p).set(lambda _, q: q == p)
        self.broadcast(p, Message(Kind.REQUEST, now))

    @action(per=(P, P))
    def receive_request(self, p: Member, q: Member) -> None:
        """A process notes a request, sets its clock past it, and acknowledges."""
        asked = self.network[q, p].head
        when(p != q, self.network[q, p].used > 0, asked.kind == Kind.REQUEST)
        when(max_of(asked.clock, self.clock[p]) < self.most)
        self.network[q, p].receive()
        self.asked[p, q] = asked.clock
        self.clock[p] = max_of(asked.clock, self.clock[p]) + 1
        self.network[p, q].send(Message(Kind.ACK, 0))

    @action(per=(P, P))
    def receive_ack(self, p: Member, q: Member) -> None:
        """A process learns that another has noted its request."""
        channel = self.network[q, p]
        when(p != q, channel.used > 0, channel.head.kind == Kind.ACK)
        channel.receive()
        self.agreed[p, q] = True

    @action(per=P)
    def enter(self, p: Member) -> None:
        """A process enters when all have agreed, and nobody asked before it."""
        when(all_of(self.agreed[p, q] for q in self.P))
        when(all_of(any_of(p == q, self.beats(p, q)) for q in self.P))
        self.inside[p] = True

    @action(per=P)
    def leave(self, p: Member) -> None:
        """A process leaves, and tells all others."""
        when(self.inside[p])
        self.inside[p] = False
        self.asked[p, p] = 0
        self.agreed.where(lambda r, _: r == p).fill(value=False)
        self.broadcast(p, Message(Kind.RELEASE, 0))

    @action(per=(P, P))
    def receive_release(self, p: Member, q: Member) -> None:
        """A process strikes out a request."""
        channel = self.network[q, p]
        when(p != q, channel.used > 0, channel.head.kind == Kind.RELEASE)
        channel.receive()
        self.asked[p, q] = 0

    def beats(self, p: Member, q: Member) -> bool:
        """By what a process knows, its request came before that of another."""
        mine, other = self.asked[p, p], self.asked[p, q]
        return any_of(other == 0, mine < other, all_of(mine == other, p < q))

    def broadcast(self, p: Member, message: Message) -> None:
        """Send to all others."""
        self.network.send_where(lambda s, r: all_of(s == p, r != p), message)

    @always
    def excludes(self) -> bool:
        """No two processes are inside at once."""
        return all_of(
            implies(all_of(self.inside[p], self.inside[q]), p == q)
            for p in self.P
            for q in self.P
        )

    @sometimes(per=P)
    def enters(self, p: Member) -> bool:
        """A process can enter."""
        return self.inside[p]


class HastyMutex(LamportMutex):
    """The same where nobody waits to hear what others asked before."""

    @action(per=LamportMutex.P)
    def enter(self, p: Member) -> None:
        """A process enters when nobody that it knows of asked before it."""
        when(self.asked[p, p] > 0)
        when(all_of(any_of(p == q, self.beats(p, q)) for q in self.P))
        self.inside[p] = True
