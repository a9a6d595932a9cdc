"""Messages between the process of the tests and its hosts: JSON, one by one."""

from __future__ import annotations

import json
import select
import struct
import time
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import socket

Message: TypeAlias = "dict[str, Any]"

_LENGTH = struct.Struct("!I")
_AT_ONCE = 1 << 16
PLANS_VARIABLE = "ONCEPROOF_PLANS"


class Channel:
    """One end of a socket, over which whole messages pass."""

    def __init__(self, end: socket.socket) -> None:
        """Take over an ``end`` of a pair of sockets."""
        self.end = end
        self._held = b""

    def send(self, message: Message) -> bool:
        """Send a message; return whether anybody is there to receive it."""
        data = json.dumps(message).encode()
        try:
            self.end.sendall(_LENGTH.pack(len(data)) + data)
        except OSError:
            return False
        return True

    def receive(
        self, seconds: float | None = None, *, ends: int | None = None
    ) -> Message | None:
        """Wait for a message; return None where none can come any more.

        ``ends`` is a file that becomes readable as the other process ends. Raises
        ``TimeoutError`` after so many ``seconds``.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        poll = select.poll()
        poll.register(self.end, select.POLLIN)
        if ends is not None:
            poll.register(ends, select.POLLIN)
        while True:
            message = self._whole()
            if message is not None:
                return message
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError
            ready = dict(poll.poll(None if left is None else 1000 * left))
            if self.end.fileno() in ready:
                try:
                    piece = self.end.recv(_AT_ONCE)
                except OSError:
                    return None
                if not piece:
                    return None
                self._held += piece
            elif ready:
                return None

    def close(self) -> None:
        """Close this end."""
        self.end.close()

    def _whole(self) -> Message | None:
        if len(self._held) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._held)
        end = _LENGTH.size + length
        if len(self._held) < end:
            return None
        data, self._held = self._held[_LENGTH.size : end], self._held[end:]
        message: Message = json.loads(data)
        return message
