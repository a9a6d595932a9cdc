"""What the proxy's parts share: a connection, what cuts it, and who decides that."""

from __future__ import annotations

import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from onceproof.spark_checks.stores.readiness import first_ready

if TYPE_CHECKING:
    import ssl
    import threading
    from collections.abc import Callable

    Lead = Callable[[str, int], int]
    """Gives the port of 127.0.0.1 that leads to a host and port of the store."""

MOST_HELD = 1 << 20
"""How many bytes of one direction are held at most, unless they are one request."""
_PIECE = 1 << 16
_IDLE = 0.5
_DRAINS = 10.0


class Cut(Enum):
    """What becomes of a request."""

    NOTHING = "it is passed on, and so is its reply"
    REQUEST = "the connection breaks before the request reaches the store"
    REPLY = "the connection breaks once the store has replied"
    LATE = "the connection breaks, and the request reaches the store later"


class Watcher(Protocol):
    """Decides what becomes of requests. Each connection calls it in a thread."""

    def watches(self) -> bool:
        """Return whether requests count now."""

    def request(self, link: Link, framed: FramedRequest | None = None) -> Cut:
        """Decide on a request, none of which has reached the store. It may wait."""

    def answered(self, link: Link, *, number: int = 0) -> None:
        """Take note that the store answers a request."""

    def refused(self, link: Link, *, number: int) -> None:
        """Take note that the store wants a request to be sent again: it is none yet."""

    def broke(self, link: Link, *, number: int = 0) -> None:
        """Take note that a connection breaks now, as decided on a request."""

    def due(self, link: Link) -> bool:
        """Return whether a late request reaches the store now."""

    def arrived(self, link: Link, *, answered: bool) -> None:
        """Take note that it was sent on, and whether the store replied."""

    def waits(self, link: Link) -> bool:
        """Return whether the client has sent all of its request, and waits."""

    def knows(self, peer: int, port: int) -> bool:
        """Return whether this user's process connects from a port to another."""


class Link:
    """One connection of a client, and the one to the store behind it."""

    def __init__(self, client: socket.socket, store: socket.socket) -> None:
        """Join two open connections; ``asked`` is how the latest request begins."""
        self.client = client
        self.store = store
        self.peer: int = client.getpeername()[1]
        self.port: int = client.getsockname()[1]
        self.asked = b""
        for one in (client, store):
            one.setblocking(False)  # noqa: FBT003 - its own signature
            with suppress(OSError):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def open(self) -> bool:
        """Whether the client's end is open."""
        return self.client.fileno() >= 0

    def close(self) -> None:
        """Close both ends."""
        for one in (self.client, self.store):
            with suppress(OSError):
                one.close()

    def reset(self) -> None:
        """Break the client's connection, as a network does: it gets an error."""
        with suppress(OSError):
            linger = struct.pack("ii", 1, 0)
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        with suppress(OSError):
            self.client.close()


@dataclass(frozen=True)
class Asker:
    """For whom a client in Spark's JVM sends a request, as the request itself says."""

    thread: int
    """Java's number for the thread that began the operation."""
    reads: bool = False
    """Whether the request changes nothing in the store."""


@dataclass(frozen=True)
class FramedRequest:
    """A request of a protocol whose messages are framed."""

    number: int
    """Its number, which its reply has too."""
    kind: str = ""
    """What it is and what it changes, the same in each run; empty if it changes
    nothing."""
    code: int = 0
    """The store's own code for what it is."""
    version: int = 0
    """The version of the protocol that it is in."""
    answered: bool = True
    """Whether the store answers it."""
    first_only: bool = False
    """Whether the number of such requests depends on timing: only the first counts."""


class Framing(Protocol):
    """How messages of a store are framed, and named."""

    def length(self, start: bytes) -> int | None:
        """Return the length of the message that starts so; None if too little is there.

        Raises ``ValueError`` for what is no message.
        """

    def request(self, message: bytes) -> FramedRequest:
        """Read a request."""

    def number(self, message: bytes) -> int:
        """Return the number of the request that a message answers."""

    def refused(self, message: bytes, to: FramedRequest) -> bool:
        """Return whether a reply asks the client to send the request again."""

    def answer(self, message: bytes, to: FramedRequest, lead: Lead) -> bytes:
        """Return the reply that leads the client to ports of 127.0.0.1.

        Raises ``OSError`` for one that cannot be read.
        """

    def tls(self) -> ssl.SSLContext | None:
        """Return how to speak TLS to the store, whose clients do not; None for plainly.

        Raises ``StoreError`` where a certificate or a key cannot be used.
        """


def finish_store(link: Link, over: threading.Event) -> None:
    """Let the store see the end of the client, and finish what it has heard."""
    store = link.store
    with suppress(OSError):
        store.shutdown(socket.SHUT_WR)
        deadline = time.monotonic() + _DRAINS
        while not over.is_set() and time.monotonic() < deadline:
            ready, _ = first_ready([store], [], _IDLE)
            if ready and not store.recv(_PIECE):
                return
