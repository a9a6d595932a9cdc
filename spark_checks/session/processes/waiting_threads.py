"""Which thread of a process waits for what comes on one of its connections.

A thread that waits is inside a call of the system, and Linux shows which call it is and
what it was given: the number of the connection, or where a list of them begins.
"""

from __future__ import annotations

import os
import platform
import struct
from contextlib import suppress
from pathlib import Path

_READS = {"x86_64": ("0", "45"), "aarch64": ("63", "207")}
"""By the machine, the numbers of ``read`` and ``recvfrom``."""
_POLLS = {"x86_64": ("7", "271"), "aarch64": ("73",)}
"""By the machine, the numbers of ``poll`` and ``ppoll``."""
_POLL_IN = 1
_ENTRY = struct.Struct("=ihh")


def waiting_on(
    process: int, descriptor: int, *, first: int | None = None
) -> int | None:
    """Return the thread that waits for data on a connection, and for nothing else.

    None if there is none, or if the system does not show it. A thread to look at
    ``first`` spares the look at all others.
    """
    if first is not None and _waits(process, first, descriptor):
        return first
    with suppress(OSError):
        for path in Path(f"/proc/{process}/task").iterdir():
            thread = int(path.name)
            if _waits(process, thread, descriptor):
                return thread
    return None


def _waits(process: int, thread: int, descriptor: int) -> bool:
    """Return whether a thread is in a call that waits for data on a connection."""
    machine = platform.machine()
    with suppress(OSError, struct.error):
        call = Path(f"/proc/{process}/task/{thread}/syscall")
        words = call.read_text(encoding="ascii").split()
        if words[0] in _READS.get(machine, ()):
            return int(words[1], 16) == descriptor
        if words[0] in _POLLS.get(machine, ()):
            return _polled(process, words[1], words[2]) == descriptor
    return False


def _polled(process: int, where: str, count: str) -> int | None:
    """Return the one connection that ``poll`` was asked about, for data to come."""
    if int(count, 16) != 1:
        return None
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        entry = os.pread(memory.fileno(), _ENTRY.size, int(where, 16))
    descriptor, events, _ = _ENTRY.unpack(entry)
    return int(descriptor) if events & _POLL_IN else None
