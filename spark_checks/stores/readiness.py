"""Which connections have something to read, or room to write: ``select`` by ``poll``.

``select`` refuses a descriptor above 1,023, and a process of tests may have more open.
"""

from __future__ import annotations

import math
import os
import select
from errno import EBADF
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

_READABLE = select.POLLIN | select.POLLHUP | select.POLLERR
_WRITABLE = select.POLLOUT | select.POLLERR


class HasDescriptor(Protocol):
    """A socket, a pipe, or what else has a descriptor."""

    def fileno(self) -> int:
        """Give the descriptor."""


Open = TypeVar("Open", bound="HasDescriptor")


def first_ready(
    reads: Sequence[Open], writes: Sequence[Open], seconds: float
) -> tuple[list[Open], list[Open]]:
    """Wait until one of ``reads`` can be read or one of ``writes`` written.

    Return those that can, in their order: none where the time ran out. An end of a
    connection can be read. Raises ``ValueError`` or ``OSError`` for a closed one.
    """
    poll = select.poll()
    wishes: dict[int, int] = {}
    for one in reads:
        wishes[one.fileno()] = select.POLLIN
    for one in writes:
        wishes[one.fileno()] = wishes.get(one.fileno(), 0) | select.POLLOUT
    for descriptor, wish in wishes.items():
        poll.register(descriptor, wish)
    found = dict(poll.poll(math.ceil(seconds * 1000)))
    if any(event & select.POLLNVAL for event in found.values()):
        raise OSError(EBADF, os.strerror(EBADF))
    return (
        [one for one in reads if found.get(one.fileno(), 0) & _READABLE],
        [one for one in writes if found.get(one.fileno(), 0) & _WRITABLE],
    )
