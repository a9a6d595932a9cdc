"""Distributed snapshots by markers, over a computation that moves coins about."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from onceproof.model.language import *
from onceproof.model.protocols.parts.recorders import RecordsChannels, RecordsProcesses


class MessageKind(Enum):
    """What is on its way."""

    BLANK = "blank"
    COIN = "coin"
    MARKER = "marker"


class Message(NamedTuple):
    """A coin, or a marker of a snapshot."""

    kind: MessageKind
    """Whether it is a coin or a marker."""
    snapshot: int
    """The snapshot of a marker; 0 for a coin."""


FAR = 7
COIN = Message(MessageKind.COIN, 0)


class ChandyLamport(Protocol):
    """A consistent snapshot of a running system. Chandy and Lamport, 1985.

    Distributed Snapshots: Determining Global States of Distributed Systems, ACM TOCS
    3(1). Processes pass coins on, whose number never changes. ``across`` watches the
    cut from outside: the coins sent before it on a channel, less those received.
    """

    P = Sort("process", size=2)
    S = Sort("snapshot", size=1, ordered=True)
    coins = param(2, "coins that the first process starts with")
    length = param(3, "room in a channel")
    overtakings = param(0, "how often a message may overtake another")

    recorder = part(RecordsChannels)

    held = state(0, per=P, high=coins)
    started = state(False)
    link = channels(
        Message(MessageKind.BLANK, 0),
        per=(P, P),
        length=length,
        high={"snapshot": S},
        overtakings=overtakings,
    )
    recorded = state(False, per=(S, P))
    value = state(0, per=(S, P), high=coins)
    closed = state(False, per=(S, P, P))
    content = state(0, per=(S, P, P), high=coins)
    across = state(0, per=(S, P, P), low=-FAR, high=FAR)

    @action(per=P)
    def start(self, p: Member) -> None:
        """A process is given all coins."""
        when(not_(self.started))
        self.started = True
        self.held[p] = self.coins

    @action(per=(P, P))
    def transfer(self, p: Member, q: Member) -> None:
        """A process passes a coin on."""
        when(self.started, p != q, self.held[p] > 0)
        self.held[p] = self.held[p] - 1
        self.link[p, q].send(COIN)
        self.across.where(
            lambda s, x, y: all_of(
                x == p, y == q, not_(self.recorded[s, p]), self.across[s, x, y] < FAR
            )
        ).add(1)

    @action(per=(P, P))
    def receive_coin(self, p: Member, q: Member) -> None:
        """A coin arrives; who has recorded itself notes it, up to the marker."""
        when(self.link[p, q].head.kind == MessageKind.COIN, self.held[q] < self.coins)
        self.link[p, q].receive()
        self.held[q] = self.held[q] + 1
        self.across.where(
            lambda s, x, y: all_of(
                x == p, y == q, not_(self.recorded[s, q]), self.across[s, x, y] > -FAR
            )
        ).add(-1)
        self._note(p, q)

    @action(per=(S, P))
    def begin(self, s: Member, p: Member) -> None:
        """A process begins a snapshot once the one before is complete."""
        when(
            self.started,
            all_of(not_(self.recorded[s, x]) for x in self.P),
            all_of(implies(x < s, self.complete(x)) for x in self.S),
        )
        self._record(s, p)

    @action(per=(S, P, P))
    def receive_first_marker(self, s: Member, p: Member, q: Member) -> None:
        """The first marker: the process records itself, and the channel as empty."""
        when(self._marker_comes(s, p, q), not_(self.recorded[s, q]))
        self.link[p, q].receive()
        self.closed[s, p, q] = True
        self._record(s, q)

    @action(per=(S, P, P))
    def receive_later_marker(self, s: Member, p: Member, q: Member) -> None:
        """A later marker: what came on the channel until now was its content."""
        when(self._marker_comes(s, p, q), self.recorded[s, q])
        self.link[p, q].receive()
        self.closed[s, p, q] = True

    def _marker_comes(self, s: Member, p: Member, q: Member) -> bool:
        head = self.link[p, q].head
        return all_of(head.kind == MessageKind.MARKER, head.snapshot == s)

    def _record(self, s: Member, p: Member) -> None:
        self.recorded[s, p] = True
        self.value[s, p] = self.held[p]
        self.link.send_where(
            lambda x, y: all_of(x == p, y != p), Message(MessageKind.MARKER, s)
        )

    def _note(self, p: Member, q: Member) -> None:
        """Who has recorded itself notes a coin, up to the marker of its channel."""
        self.content.where(
            lambda s, x, y: all_of(
                x == p,
                y == q,
                self.recorder.keeps(
                    all_of(self.recorded[s, q], not_(self.closed[s, x, y]))
                ),
                self.content[s, x, y] < self.coins,
            )
        ).add(1)

    def complete(self, s: Member) -> bool:
        """Whether every process has recorded itself and all its channels."""
        return all_of(
            all_of(self.recorded[s, p] for p in self.P),
            all_of(
                implies(p != q, self.closed[s, p, q]) for p in self.P for q in self.P
            ),
        )

    @always
    def conserves(self) -> bool:
        """A complete snapshot holds as many coins as there are."""
        return all_of(
            implies(
                self.complete(s),
                total(self.value[s, p] for p in self.P)
                + total(self.content[s, p, q] for p in self.P for q in self.P)
                == self.coins,
            )
            for s in self.S
        )

    @always
    def is_a_consistent_cut(self) -> bool:
        """What was received before the cut was sent before it; the rest is recorded."""
        return all_of(
            implies(self.complete(s), self.across[s, p, q] == self.content[s, p, q])
            for s in self.S
            for p in self.P
            for q in self.P
        )

    @sometimes
    def completes(self) -> bool:
        """Every snapshot can be completed."""
        return all_of(self.complete(s) for s in self.S)

    @sometimes
    def catches_a_coin_on_its_way(self) -> bool:
        """A complete snapshot can hold a coin that was in a channel."""
        return any_of(
            all_of(self.complete(s), self.content[s, p, q] > 0)
            for s in self.S
            for p in self.P
            for q in self.P
        )


class ChandyLamportUnordered(ChandyLamport):
    """The same where a message may overtake another. Chandy and Lamport, 1985.

    They assume channels that keep the order; without it a marker no longer separates
    what was sent before from what was sent after.
    """

    breaks = ("conserves", "is-a-consistent-cut")

    overtakings = param(1, "how often a message may overtake another")


class ChandyLamportWithoutChannels(ChandyLamport):
    """The same with the channels' content left out. Chandy and Lamport, 1985.

    They record it: process states alone lose what is on its way.
    """

    breaks = ("conserves", "is-a-consistent-cut", "catches-a-coin-on-its-way")

    recorder = part(RecordsChannels, default=RecordsProcesses)
