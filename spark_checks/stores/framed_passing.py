"""Passes the messages of one connection on, where a protocol frames them.

Clients send requests from threads of their own, several before they hear a reply.
So a request is known by its kind, and not by where a client waits.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.links import Cut, FramedRequest, Link, finish_store
from onceproof.spark_checks.stores.readiness import first_ready

if TYPE_CHECKING:
    import threading

    from onceproof.spark_checks.stores.links import Framing, Lead, Watcher

_PIECE = 1 << 16
_IDLE = 0.5
_TURN = 0.001
_LISTENS = 1.0
_DRAINS = 10.0


class FramedPassing:
    """Passes messages on in both directions, until one is cut."""

    def __init__(
        self,
        link: Link,
        watcher: Watcher,
        over: threading.Event,
        framing: Framing,
        lead: Lead,
    ) -> None:
        """Let the store's replies lead the client to ports of 127.0.0.1."""
        self._link = link
        self._watcher = watcher
        self._over = over
        self._framing = framing
        self._lead = lead
        self._from_client = bytearray()
        self._from_store = bytearray()
        self._to_store = bytearray()
        self._to_client = bytearray()
        self._asked: dict[int, FramedRequest] = {}
        self._watched: set[int] = set()
        self._held: tuple[FramedRequest, bytes, Cut] | None = None
        self._losing: int | None = None
        self._since = 0.0
        self._client_ended = False

    def go(self) -> None:
        """Pass on until an end has nothing more to say, or the connection is cut."""
        link = self._link
        while not self._over.is_set():
            if self._held is not None and self._is_alone():
                self._cut(*self._held)
                return
            if self._client_ended and not self._to_store:
                with suppress(OSError):
                    link.store.shutdown(socket.SHUT_WR)
                if not (self._asked or self._to_client):
                    finish_store(link, self._over)
                    return
            listens = not (self._client_ended or self._held or self._losing is not None)
            reads = [link.store, *([link.client] if listens else [])]
            writes = [link.store] if self._to_store else []
            writes += [link.client] if self._to_client else []
            ready, open_ = first_ready(reads, writes, _IDLE)
            if link.client in ready:
                self._hear_client()
            if link.store in ready and self._hear_store():
                return
            if link.store in open_ and self._to_store:
                del self._to_store[: link.store.send(self._to_store)]
            if link.client in open_ and self._to_client:
                del self._to_client[: link.client.send(self._to_client)]

    def _is_alone(self) -> bool:
        """Return whether all requests before the one that is held are answered.

        One that changes nothing may be answered only when something happens.
        """
        patient = time.monotonic() < self._since + _LISTENS
        waits = self._watched or (self._asked and patient)
        return not (waits or self._to_store or self._to_client)

    def _hear_client(self) -> None:
        piece = self._link.client.recv(_PIECE)
        self._client_ended = not piece
        self._from_client += piece
        self._read_requests()

    def _read_requests(self) -> None:
        """Pass requests on up to one that is cut."""
        while self._held is None and self._losing is None:
            message = self._next(self._from_client)
            if message is None:
                return
            request = self._framing.request(message)
            cut = Cut.NOTHING
            if request.kind and self._watcher.watches():
                cut = self._watcher.request(self._link, request)
                if cut in (Cut.REQUEST, Cut.LATE):
                    self._held = (request, message, cut)
                    self._since = time.monotonic()
                    return
                if request.answered:
                    self._watched.add(request.number)
            if request.answered:
                self._asked[request.number] = request
            if cut is Cut.REPLY:
                self._losing = request.number
            self._to_store += message

    def _hear_store(self) -> bool:
        """Pass replies on; return whether the connection is over."""
        link = self._link
        piece = link.store.recv(_PIECE)
        self._from_store += piece
        while (message := self._next(self._from_store)) is not None:
            number = self._framing.number(message)
            request = self._asked.pop(number, None)
            if request is None:
                message_text = "the store replied to a request that was not sent"
                raise OSError(message_text)
            if number in self._watched:
                self._watched.discard(number)
                if self._framing.refused(message, request):
                    self._watcher.refused(link, number=number)
                    if number == self._losing:
                        self._losing = None
                else:
                    self._watcher.answered(link, number=number)
            if number == self._losing:
                self._say_the_rest()
                self._watcher.broke(link, number=number)
                link.reset()
                finish_store(link, self._over)
                return True
            self._to_client += self._framing.answer(message, request, self._lead)
        self._read_requests()
        if not piece:
            self._say_the_rest()
        return not piece

    def _say_the_rest(self) -> None:
        """Let the client hear what the store has replied before."""
        with suppress(OSError):
            self._link.client.setblocking(True)  # noqa: FBT003 - its own signature
            self._link.client.settimeout(_DRAINS)
            self._link.client.sendall(self._to_client)
        self._to_client.clear()

    def _cut(self, request: FramedRequest, message: bytes, cut: Cut) -> None:
        """Break the connection at a request that has not reached the store."""
        link = self._link
        self._watcher.broke(link, number=request.number)
        link.reset()
        if cut is Cut.LATE:
            while not self._watcher.due(link):
                if self._over.wait(_TURN):
                    return
            self._watcher.arrived(link, answered=self._deliver(request, message))
        finish_store(link, self._over)

    def _deliver(self, request: FramedRequest, message: bytes) -> bool:
        """Send a late request on; return whether the store has replied to it."""
        store = self._link.store
        deadline = time.monotonic() + _DRAINS
        with suppress(OSError):
            store.setblocking(True)  # noqa: FBT003 - its own signature
            store.settimeout(_DRAINS)
            store.sendall(self._to_store + message)
            self._to_store.clear()
            while time.monotonic() < deadline and (piece := store.recv(_PIECE)):
                self._from_store += piece
                while (answer := self._next(self._from_store)) is not None:
                    if self._framing.number(answer) == request.number:
                        return True
        return False

    def _next(self, waiting: bytearray) -> bytes | None:
        """Take the next whole message; None if there is none."""
        try:
            length = self._framing.length(bytes(waiting[:64]))
        except ValueError as error:
            raise OSError(str(error)) from None
        if length is None or len(waiting) < length:
            return None
        message = bytes(waiting[:length])
        del waiting[:length]
        return message
