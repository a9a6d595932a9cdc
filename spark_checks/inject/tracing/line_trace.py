"""Notes of the points that code reaches: a line in a file for each, as it is reached.

A note is who reached it, ``71.3``, a tab, and the text. Where not all are noted it has
the number of the time too, ``71.3=20500``. A thread that is not the main one is named
in front, ``140+71.3``.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_NOTES = 20_000
_THREAD, _TIME = "+", "="


def file_of(where: str, batch: int) -> str:
    """Name the file in which the points of a batch are noted."""
    return f"points-{where}-{batch}"


class Notes:
    """Writes notes down at once, up to ``MOST_NOTES``.

    From then on it writes each text at its first time, and when ``flush`` is called at
    its latest.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._number = 0
        self._latest: dict[tuple[Path, str, str], int] = {}
        self._one_by_one = threading.Lock()

    def write(self, path: Path, text: str, times: int) -> None:
        """Note that a point was reached for the ``times``-th time."""
        who = f"{_thread()}{os.getpid()}.{id(self)}"
        self._number += 1
        if self._number <= MOST_NOTES:
            _append(path, f"{who}\t{text}\n")
        elif times == 1:
            _append(path, f"{who}{_TIME}1\t{text}\n")
        else:
            with self._one_by_one:
                self._latest.pop((path, who, text), None)
                self._latest[path, who, text] = times

    def flush(self) -> None:
        """Write down the latest times that have not been, in their order."""
        with self._one_by_one:
            latest, self._latest = self._latest, {}
        for (path, who, text), times in latest.items():
            _append(path, f"{who}{_TIME}{times}\t{text}\n")


def read(path: Path) -> Iterator[tuple[bool, str, int]]:
    """Yield what is noted: whether by the main thread, the text, and which time it is.

    Points of the main thread come first, in order. Those of other threads follow in
    order of the text, so that it is the same whichever thread was first.
    """
    if not path.exists():
        return
    mine: list[tuple[str, str, str]] = []
    theirs: list[tuple[str, str, str]] = []
    for note in path.read_text(encoding="utf-8").splitlines():
        who, _, text = note.partition("\t")
        who, _, time = who.partition(_TIME)
        _, thread, process = who.rpartition(_THREAD)
        (theirs if thread else mine).append((text, process, time))
    theirs.sort(key=lambda one: one[:2])
    times: dict[tuple[str, str], int] = {}
    for main, some in ((True, mine), (False, theirs)):
        for text, process, time in some:
            key = (text, process)
            times[key] = int(time) if time else times.get(key, 0) + 1
            yield main, text, times[key]


def of_first(path: Path) -> tuple[str, ...]:
    """Return the points of the process that wrote first, in order.

    Of the attempts of a task, that is the one that no other came before.
    """
    found = [n.partition("\t") for n in path.read_text(encoding="utf-8").splitlines()]
    mine = [(who.partition(_TIME)[0], text) for who, _, text in found]
    mine = [(who, text) for who, text in mine if _THREAD not in who]
    return tuple(text for who, text in mine if who == mine[0][0])


def _append(path: Path, note: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(note)


def _thread() -> str:
    """Name the thread that runs, if it is not the main one."""
    if threading.current_thread() is threading.main_thread():
        return ""
    return f"{threading.get_ident()}{_THREAD}"
