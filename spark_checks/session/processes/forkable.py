"""Says whether a process can be forked: no thread and no open file would be lost."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

_KEEPS_ITSELF = ("jemalloc_bg_thd",)
"""Threads of an allocator that holds its locks over a fork, and starts them again."""
_HARMLESS = ("/dev/", "anon_inode:inotify")


def threads() -> list[str]:
    """Name the threads of this process besides the one that calls."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        try:
            name = (task / "comm").read_text().strip()
        except OSError:
            continue
        if int(task.name) != os.getpid() and name not in _KEEPS_ITSELF:
            found.append(name)
    return sorted(found)


def files() -> dict[int, str]:
    """List the open files of this process, by number."""
    found = {}
    for entry in Path("/proc/self/fd").iterdir():
        try:
            place = os.readlink(entry)  # noqa: PTH115 - sockets are no paths
        except OSError:
            continue
        if not place.startswith(_HARMLESS) and place != f"/proc/{os.getpid()}/fd":
            found[int(entry.name)] = place
    return found


def problems(before: dict[int, str]) -> list[str]:
    """Return what a fork would lose or share, that was not there ``before``."""
    if opened(before):
        _empty_pools()
    held = [f"it keeps {place} open" for place in opened(before)]
    running = threads()
    if running:
        named = ", ".join(dict.fromkeys(running))
        held.append(f"{len(running)} more threads run in it ({named})")
    return held


def opened(before: dict[int, str]) -> list[str]:
    """List the files that are open now, and were not."""
    now = files()
    return sorted({now[n] for n in now if now[n] != before.get(n)})


def _empty_pools() -> None:
    """Close connections that SQLAlchemy's pools keep for later: they are made again."""
    module: Any = sys.modules.get("sqlalchemy.engine")
    if module is None:
        return
    import gc  # noqa: PLC0415

    for what in gc.get_objects():
        if isinstance(what, module.Engine):
            what.dispose()
