"""The time of processors that a process and all those below it have taken."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _TIMES = 1, slice(11, 15)


def processor_seconds() -> float:
    """Return the seconds of processors that this process and those below it took."""
    found: dict[int, tuple[int, int]] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                text = (place / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            fields = text.rpartition(")")[2].split()
            ticks = sum(map(int, fields[_TIMES]))
            found[int(place.name)] = int(fields[_PARENT]), ticks
    mine = {os.getpid()}
    while more := {p for p, (up, _) in found.items() if up in mine} - mine:
        mine |= more
    return sum(found[process][1] for process in mine if process in found) / _TICKS
