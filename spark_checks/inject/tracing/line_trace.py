"""Notes of the points that code reaches: a line in a file for each, as it is reached.

A note is who reached it, ``71.3``, a tab, and the text. Where not all are noted it has
the number of the time too, ``71.3=20500``. A thread that is not the main one is named
in front, ``140+71.3``. ``~`` in front of all says that nothing was left that outlives
the process since the note before, and ``!`` that another thread ran meanwhile.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onceproof.spark_checks.inject.tracing.durable_effects import LeftBehind

MOST_NOTES = 20_000
_THREAD, _TIME = "+", "="
_UNCHANGED, _OTHERS_RAN = "~", "!"


class Note(NamedTuple):
    """A note, as it is read."""

    main: bool
    """Whether it is of the main thread."""
    text: str
    """The point."""
    time: int
    """Which time it was reached, from 1."""
    unchanged: bool
    """Whether nothing was left since the note before it that outlives the process."""


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

    def write(
        self, path: Path, text: str, times: int, change: LeftBehind | None = None
    ) -> None:
        """Note that a point was reached for the ``times``-th time.

        ``change`` is what is known of the time since the note before.
        """
        sign = "" if change is None or not change.nothing else _UNCHANGED
        sign = _OTHERS_RAN if change is not None and change.others_ran else sign
        who = f"{sign}{_thread()}{os.getpid()}.{id(self)}"
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


def read(path: Path) -> Iterator[Note]:
    """Yield the notes.

    Points of the main thread come first, in order. Those of other threads follow in
    order of the text, so that it is the same whichever thread was first. Where another
    thread ran in between, or there are notes of other threads, nothing counts as
    unchanged.
    """
    if not path.exists():
        return
    mine: list[tuple[str, str, str, bool]] = []
    theirs: list[tuple[str, str, str, bool]] = []
    alone = True
    for note in path.read_text(encoding="utf-8").splitlines():
        who, _, text = note.partition("\t")
        unchanged = who.startswith(_UNCHANGED)
        alone = alone and not who.startswith(_OTHERS_RAN)
        who, _, time = who.lstrip(_UNCHANGED + _OTHERS_RAN).partition(_TIME)
        _, thread, process = who.rpartition(_THREAD)
        (theirs if thread else mine).append((text, process, time, unchanged))
    theirs.sort(key=lambda one: one[:2])
    alone = alone and not theirs
    times: dict[tuple[str, str], int] = {}
    for main, some in ((True, mine), (False, theirs)):
        for text, process, time, unchanged in some:
            key = (text, process)
            times[key] = int(time) if time else times.get(key, 0) + 1
            yield Note(main, text, times[key], unchanged and alone)


def of_first(path: Path) -> tuple[str, ...]:
    """Return the points of the process that wrote first, in order.

    Of the attempts of a task, that is the one that no other came before.
    """
    found = [n.partition("\t") for n in path.read_text(encoding="utf-8").splitlines()]
    signs = _UNCHANGED + _OTHERS_RAN
    mine = [(who.lstrip(signs).partition(_TIME)[0], text) for who, _, text in found]
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
