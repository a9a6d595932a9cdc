"""Which process holds a connection of this machine, and whether it waits."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_TABLE = Path("/proc/net/tcp")
_LOOPBACKS = {
    _TABLE: "0100007F",
    Path("/proc/net/tcp6"): "0000000000000000FFFF00000100007F",
}
"""By the table, 127.0.0.1 as it is written there. Java connects by the second one."""
_WAITS = b"S"
_ENDED = (b"Z", b"X")


def missing() -> str:
    """Say why no process can be found by its connections; empty if it can."""
    if _TABLE.exists() and sys.byteorder == "little":
        return ""
    return "the system does not list in /proc/net/tcp who holds a connection"


def holder(
    candidates: Iterable[int], port: int, to_port: int
) -> tuple[int, int] | None:
    """Return who holds the connection from a port of loopback to another.

    That is a process, and its own number for the connection.
    """
    wanted = _socket(port, to_port)
    if wanted is None:
        return None
    for process in candidates:
        with suppress(OSError):
            for number in Path(f"/proc/{process}/fd").iterdir():
                with suppress(OSError):
                    if str(number.readlink()) == wanted:
                        return process, int(number.name)
    return None


def user(port: int, to_port: int) -> int | None:
    """Return whose the connection from a port of loopback to another is."""
    fields = _fields(port, to_port)
    return int(fields[7]) if fields else None


def alive(process: int) -> bool:
    """Return whether a process has not ended."""
    path = Path(f"/proc/{process}/stat")
    return path.exists() and _state(path) not in _ENDED


def waits(process: int) -> bool:
    """Return whether no thread of a process runs; True for one that has ended."""
    try:
        threads = list(Path(f"/proc/{process}/task").iterdir())
    except OSError:
        return True
    return all(_state(thread / "stat") == _WAITS for thread in threads)


def worked(process: int) -> float:
    """Return for how many seconds a process has run on some processor."""
    try:
        content = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return 0.0
    fields = content.rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _state(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError:
        return _WAITS
    # The name of the program comes before it, in brackets, and may hold any.
    return content.rpartition(b")")[2].split()[0]


def _socket(port: int, to_port: int) -> str | None:
    """Name the socket of a connection, as ``/proc`` does."""
    fields = _fields(port, to_port)
    return f"socket:[{fields[9]}]" if fields else None


def _fields(port: int, to_port: int) -> list[str]:
    """Return what ``/proc`` says of the end of a connection that has the port."""
    for table, host in _LOOPBACKS.items():
        ends = f" {host}:{port:04X} {host}:{to_port:04X} "
        with suppress(FileNotFoundError):
            for line in table.read_text(encoding="ascii").splitlines():
                if ends in line:
                    return line.split()
    return []
