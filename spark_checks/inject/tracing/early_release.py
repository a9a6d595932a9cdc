"""Lets a task that was given up go on early, where all else waits for it.

Such a task is parked with what it holds: locks, and open transactions. The interleaving
lets it go on once its successor is done; where the successor waits for a lock that the
parked task holds, neither would ever move.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from onceproof.spark_checks.plan.rules import BEAT, RELEASED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import TracebackType

    from onceproof.spark_checks.plan.rules import Rule

_EVERY = 0.1
_LOGS = ("commits", "offsets")


class Stall:
    """Watches the runs of one query while it is waited for.

    Nothing moves when no mark is left, no log entry is written, and no traced process
    reaches another line. If that lasts for ``patience`` seconds while a task is
    parked, the task is released, and ``released`` says so.
    """

    def __init__(self, marks: Path, checkpoint: Path, patience: float) -> None:
        """Know of no task that could be parked."""
        self._marks = marks
        self._watched = (marks, marks / BEAT, *(checkpoint / log for log in _LOGS))
        self._patience = patience
        self._parked: list[Rule] = []
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.released = False

    def expect(self, rules: Iterable[Rule]) -> None:
        """Take note of the tasks that a run is going to park."""
        found = [rule for rule in rules if rule.do == "zombie" and rule.landed]
        self._parked += found
        if found:
            (self._marks / BEAT).touch()

    def __enter__(self) -> Self:
        """Start to watch, if a task may be parked."""
        if self._parked:
            self._over.clear()
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Watch no more."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _watch(self) -> None:
        seen, since = self._signs(), time.monotonic()
        while not self._over.wait(_EVERY):
            now = self._signs()
            waiting = [rule for rule in self._parked if self._is_parked(rule)]
            if now != seen or not waiting:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > self._patience:
                for rule in waiting:
                    (self._marks / released_by(rule)).touch()
                self.released = True

    def _is_parked(self, rule: Rule) -> bool:
        parked = (self._marks / rule.mark).exists()
        gone = (self._marks / rule.landed).exists()
        return parked and not gone and not (self._marks / released_by(rule)).exists()

    def _signs(self) -> tuple[int, ...]:
        """Return the times at which anything moved last."""
        return tuple(map(_changed, self._watched))


def released_by(rule: Rule) -> str:
    """Name the mark by which the parked tasks of a rule's run go on."""
    return f"{rule.mark.partition('-')[0]}-{RELEASED}"


def _changed(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_mtime_ns
    return 0
