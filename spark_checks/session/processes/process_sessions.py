"""The processes of a session in the system's sense: what one process has started."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

_SESSION = 3
_GONE = 10.0
_POLL = 0.002


def members(session: int) -> list[int]:
    """List the processes of a session that still run, besides its leader."""
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdecimal() or int(entry.name) == session:
            continue
        with suppress(OSError):
            stat = Path(entry.path, "stat").read_bytes().decode("ascii", "replace")
            # The name of its program may hold anything, and ends with the last bracket.
            fields = stat.rpartition(")")[2].split()
            if fields[0] not in "ZX" and int(fields[_SESSION]) == session:
                found.append(int(entry.name))
    return found


def end_leader(process: subprocess.Popen[bytes]) -> bool:
    """Kill a process that leads a session, and all of it; return whether all are gone.

    It may have ended before. While it is not waited for, no other process takes its
    number.
    """
    if process.returncode is not None:
        return True
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    gone = end_session(process.pid)
    process.wait()
    return gone


def end_session(session: int) -> bool:
    """Kill the processes of a session besides its leader; return whether all are gone.

    The leader must have been started by this process, and not been waited for: its
    number is taken until then.
    """
    deadline = time.monotonic() + _GONE
    while left := members(session):
        for number in left:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL)
    return True
