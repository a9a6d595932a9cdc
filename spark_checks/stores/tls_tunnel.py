"""Speaks TLS to a store for somebody on this machine who speaks plainly."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.readiness import first_ready

if TYPE_CHECKING:
    import threading

_PIECE = 1 << 16
_MOST_HELD = 1 << 20
_IDLE = 0.5
_WANTS = (ssl.SSLWantReadError, ssl.SSLWantWriteError)


class TlsTunnel:
    """Carries bytes between a connection in TLS and an end of a pair of sockets."""

    def __init__(self, far: ssl.SSLSocket, over: threading.Event) -> None:
        """Join an open connection to a new pair of sockets."""
        self._far = far
        self._over = over
        self.plain, self._near = socket.socketpair()
        for one in (self._far, self._near):
            one.setblocking(False)  # noqa: FBT003 - its own signature
        self._to_far = bytearray()
        self._to_near = bytearray()
        self._far_ended = self._near_ended = self._said_end = False

    def go(self) -> None:
        """Carry until the store has nothing more to say, or nobody is there."""
        try:
            while not (self._over.is_set() or self._done()):
                self._turn()
        except OSError:
            pass
        finally:
            self._say_the_rest()
            self._far.close()
            self._near.close()

    def _say_the_rest(self) -> None:
        """Hand on what the store has answered, however it has ended."""
        with suppress(OSError):
            self._near.settimeout(_IDLE)
            self._near.sendall(self._to_near)

    def _turn(self) -> None:
        waits = self._far.pending() == 0  # decrypted bytes are no news to select
        far, near = self._far, self._near
        reads: list[socket.socket] = []
        if not self._far_ended and len(self._to_near) < _MOST_HELD:
            reads.append(far)
        if not self._near_ended and len(self._to_far) < _MOST_HELD:
            reads.append(near)
        writes: list[socket.socket] = [far] if self._to_far else []
        writes += [near] if self._to_near else []
        ready, open_ = first_ready(reads, writes, _IDLE if waits else 0)
        if far in reads and (far in ready or not waits):
            with suppress(*_WANTS):
                piece = far.recv(_PIECE)
                self._far_ended = not piece
                self._to_near += piece
        if near in ready:
            piece = near.recv(_PIECE)
            self._near_ended = not piece
            self._to_far += piece
        if far in open_:
            with suppress(*_WANTS):
                del self._to_far[: far.send(self._to_far)]
        if near in open_:
            del self._to_near[: near.send(self._to_near)]

    def _done(self) -> bool:
        """Hand on the ends of streams; return whether nothing is left to do."""
        if self._near_ended and not (self._to_far or self._said_end):
            self._said_end = True
            # That of SSLSocket would also forget how to read what the store still says.
            socket.socket.shutdown(self._far, socket.SHUT_WR)
        return self._far_ended and not self._to_near
