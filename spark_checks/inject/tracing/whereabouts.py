"""Where the user's code in a process is now, for who sees that it talks to a store.

The file of a process holds the point that its code has reached last. It is shared
memory: it is written before the code sends anything, and is there when that arrives.
"""

from __future__ import annotations

import json
import mmap
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.spark_checks.plan.rules import Place

_SIZE = 1 << 12
_PREFIX = "whereabouts-"
_READS = 50
_UNKNOWN = b"?"


@dataclass(frozen=True)
class Whereabouts:
    """A point that the user's code in a process has reached."""

    function: str
    """Where the code runs: the ``function`` of rules for its points."""
    batch: int
    """The batch."""
    partition: int | None
    """The partition; None on the driver."""
    attempt: int | None
    """The attempt; None on the driver."""
    line: str
    """The point."""
    time: int
    """Which time it is reached, from 1."""


class OwnWhereabouts:
    """Writes where this process is. Threads share one file: of two, none is known."""

    def __init__(self, marks: Path) -> None:
        """Be nowhere."""
        self._marks = marks
        self._memory: mmap.mmap | None = None
        self._process = 0
        self._mine = threading.local()
        self._inside: set[int] = set()
        self._lock = threading.Lock()

    def reach(self, place: Place, line: str, time: int) -> None:
        """Take note of a point that this thread has reached."""
        if place.batch is not None:
            here = (place.code, place.batch, place.partition, place.attempt)
            self._set(json.dumps((*here, line, time)).encode())

    @property
    def here(self) -> bytes:
        """Where this thread is."""
        return getattr(self._mine, "here", b"")

    def back(self, before: bytes) -> None:
        """Be where this thread was when ``here`` gave that."""
        self._set(before)

    def _set(self, here: bytes) -> None:
        self._mine.here = here
        me = threading.get_ident()
        with self._lock:
            if here:
                self._inside.add(me)
            else:
                self._inside.discard(me)
            others = self._inside - {me}
            self._write(_UNKNOWN if others else here)

    def _write(self, what: bytes) -> None:
        if self._memory is None or self._process != os.getpid():
            self._memory = _opened(self._marks)
            self._process = os.getpid()
        memory = self._memory
        what = what if len(what) < _SIZE - 8 else _UNKNOWN
        # Who reads meanwhile finds a length that cannot be, and reads again.
        memory[0:4] = b"\xff\xff\xff\xff"
        memory[4 : 4 + len(what)] = what
        memory[0:4] = len(what).to_bytes(4, "little")


def _opened(marks: Path) -> mmap.mmap:
    path = marks / f"{_PREFIX}{os.getpid()}"
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.ftruncate(number, _SIZE)
        return mmap.mmap(number, _SIZE)
    finally:
        os.close(number)


def processes(marks: Path) -> list[int]:
    """List the processes that run code of the user's, or did."""
    found = []
    with suppress(OSError):
        found = [
            int(name.removeprefix(_PREFIX))
            for name in (path.name for path in marks.iterdir())
            if name.startswith(_PREFIX)
        ]
    return found


def whereabouts_of(marks: Path, process: int) -> Whereabouts | None:
    """Return where the code of a process is; None if it is in none of it.

    Raises ``LookupError`` where several threads of it run code of the user's.
    """
    try:
        with (marks / f"{_PREFIX}{process}").open("rb") as file:
            for _ in range(_READS):
                file.seek(0)
                content = file.read(_SIZE)
                length = int.from_bytes(content[:4], "little")
                if length < _SIZE:
                    break
            else:
                raise LookupError(process)
    except OSError:
        return None
    what = content[4 : 4 + length]
    if what == _UNKNOWN:
        raise LookupError(process)
    return Whereabouts(*json.loads(what)) if what else None
