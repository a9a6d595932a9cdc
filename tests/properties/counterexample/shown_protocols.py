"""Protocols with wrong claims: over channels, a network, members, and parts."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from onceproof.model.language import (
    Member,
    Part,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    channels,
    fault,
    implies,
    member_of,
    min_of,
    network,
    nobody,
    nobody_of,
    not_,
    part,
    state,
    when,
)


class Kind(Enum):
    """What a frame is."""

    DATA = "data"
    ACK = "ack"


class Frame(NamedTuple):
    """What goes over the wire."""

    kind: Kind
    seq: int
    last: bool


class Pipe(Protocol):
    """Frames over two channels."""

    SIDE = Sort("side of the link")

    wire = channels(
        Frame(Kind.DATA, 0, last=False), per=SIDE, length=2, high=2, repeats=1
    )
    sent = state(0, high=3)
    got = state(0, high=3)

    @action(per=SIDE)
    def send(self, s: Member) -> None:
        """Send the next frame."""
        when(self.sent < 2)
        self.wire[s].send(Frame(Kind.DATA, self.sent, self.sent == 1))
        self.sent = self.sent + 1

    @action(per=SIDE)
    def receive(self, s: Member) -> None:
        """Take a frame."""
        when(self.wire[s].head.kind == Kind.DATA, self.got < 3)
        self.wire[s].receive()
        self.got = self.got + 1

    @always
    def in_time(self) -> bool:
        """No more arrives than was sent."""
        return self.got <= self.sent


class Append(NamedTuple):
    """An entry for a server."""

    to: Member
    index: int


class Log(Protocol):
    """Entries that are sent to servers, in any order."""

    SERVER = Sort("server of the log", ordered=True)
    SLOT = Sort("place of a message", size=2, ordered=True)

    net = network(Append(member_of(SERVER), 0), in_flight=SLOT, high=1000, repeats=1)
    count = state(0, per=SERVER, high=5)
    sent = state(False, per=SERVER)

    @action(per=SERVER)
    def send(self, s: Member) -> None:
        """Send an entry to a server."""
        when(not_(self.sent[s]))
        self.sent[s] = True
        self.net.only.send(Append(s, 17))

    @action(per=SLOT)
    def append(self, place: Member) -> None:
        """Take any entry."""
        entry = self.net.only.take(place)
        self.count[entry.to] = min_of(self.count[entry.to] + 1, 5)

    @always
    def once(self) -> bool:
        """No server appends twice."""
        return all_of(self.count[s] <= 1 for s in self.SERVER)


class Lease(Protocol):
    """One holder of a lease, who may not know that it ran out."""

    N = Sort("node", size=3)

    holder = state(nobody_of(N))
    first = state(member_of(N))
    believes = state(nobody_of(N), per=N)

    @action(per=N)
    def take(self, n: Member) -> None:
        """Take the lease."""
        when(self.holder == nobody)
        self.holder = n
        self.believes[n] = n

    @fault(at_most=1)
    def expire(self) -> None:
        """The lease runs out, and its holder does not know."""
        when(self.holder != nobody)
        self.holder = nobody

    @always
    def one(self) -> bool:
        """At most one node believes that it holds the lease."""
        return all_of(
            implies(all_of(self.believes[n] == n, self.believes[m] == m), n == m)
            for n in self.N
            for m in self.N
        )

    @always
    def nobody_is_first(self) -> bool:
        """No node is the first."""
        return not_(any_of(self.first == n for n in self.N))


class Driver(Part):
    """A driver with an inbox, and with a box of notes."""

    inbox = channels(0, length=2, high=3, repeats=1)
    notes = network(False, copies=2, repeats=1)
    got = state(0, high=3)

    @action
    def send(self) -> None:
        """Send to both."""
        self.inbox.only.send(2)
        self.notes.only.send(True)

    @action
    def take(self) -> None:
        """Take from the inbox."""
        when(self.got < 2)
        self.inbox.only.receive()
        self.got = self.got + 1


class Office(Protocol):
    """A driver for each worker."""

    W = Sort("worker of the office")

    drivers = part(Driver, per=W)

    @always
    def gets_few(self) -> bool:
        """No driver gets two messages."""
        return all_of(self.drivers[w].got < 2 for w in self.W)
