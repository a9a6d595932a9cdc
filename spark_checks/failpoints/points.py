"""Points of a user's own code at which it can be struck, found by running it once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onceproof.spark_checks.failpoints import notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

MOST_POINTS = 40
DRIVER, TASK, ABORT = "driver", "task", "abort"
_RETURN = "the return of "
_END = "the end of "


@dataclass(frozen=True)
class Point:
    """A line, or a return, that a process comes to for the ``time``-th time."""

    text: str
    time: int = 1

    def __str__(self) -> str:
        """Show the point as it stands in a report."""
        return self.text if self.time == 1 else f"{self.text}, time {self.time}"


@dataclass(frozen=True)
class Seen:
    """The points that a sink's code was seen to come to, in order.

    On the ``driver`` and in ``aborts`` by batch, in ``tasks`` by batch and partition.
    What runs in a task ends with the return of its last function; ``last`` holds such
    returns on the driver. ``callback`` says that the code on the driver is called by
    foreachBatch or is a job, ``passed`` how many times points were come to that are
    not among these: see ``chosen``.
    """

    driver: Mapping[int, tuple[Point, ...]] = field(default_factory=dict)
    tasks: Mapping[tuple[int, int], tuple[Point, ...]] = field(default_factory=dict)
    aborts: Mapping[int, tuple[Point, ...]] = field(default_factory=dict)
    last: Mapping[int, Point] = field(default_factory=dict)
    callback: bool = False
    passed: int = 0

    @property
    def sizes(self) -> dict[str, int]:
        """Give the sizes of the model's sorts of points."""
        tasks = max(map(len, self.tasks.values()), default=0)
        return {
            "LINE": max(1, *map(len, self.driver.values()), 0),
            "WORK": max(1, tasks - 1),
            "UNDO": max(1, *map(len, self.aborts.values()), 0),
        }

    def fullest(self, batch: int) -> int | None:
        """Name the partition of a batch whose task comes to the most points."""
        found = {p: len(points) for (b, p), points in self.tasks.items() if b == batch}
        return max(found, key=lambda p: (found[p], -p), default=None)


def told(text: str, *, returns: bool = False, ends: bool = False) -> str:
    """Say of a place in the code whether it is left: a function, or a ``with``."""
    return f"{_RETURN if returns else _END if ends else ''}{text}"


def may_raise(text: str) -> bool:
    """Say whether an error can come up at a point, as if a call had raised it.

    At the end of a ``with`` it cannot: its block is done, and ``__exit__`` would be
    left out.
    """
    return not text.startswith((_RETURN, _END))


def returns(text: str) -> bool:
    """Say whether a point is the return of a function."""
    return text.startswith(_RETURN)


def seen_in(marks: Path, batches: int, *, callback: bool) -> Seen:
    """Read the notes of a run in which every point was noted."""
    driver: dict[int, tuple[Point, ...]] = {}
    last: dict[int, Point] = {}
    tasks: dict[tuple[int, int], tuple[Point, ...]] = {}
    passed = 0
    for batch in range(batches):
        lines, ended = _parted(_read(marks / notes.file_of(DRIVER, batch)))
        if lines:
            driver[batch] = chosen(lines)
            passed += _times(lines) - len(driver[batch])
        if lines and ended:
            last[batch] = ended[-1]
        for path in sorted(marks.glob(f"{notes.file_of(TASK, batch)}-*")):
            lines, ended = _parted(_read(path))
            if lines and ended:
                kept = chosen(lines)
                passed += _times(lines) - len(kept)
                key = (batch, int(path.name.rpartition("-")[2]))
                tasks[key] = (*kept, ended[-1])
    return Seen(driver, tasks, {}, last, callback, passed)


def points_in(path: Path) -> tuple[Point, ...]:
    """Read the points of one file of notes, returns apart."""
    lines, _ = _parted(_read(path))
    return chosen(lines)


def chosen(points: Sequence[Point], most: int = MOST_POINTS) -> tuple[Point, ...]:
    """Leave out repetitions of lines where there are more than so many points.

    Each line stays at its first and at its last time, however many lines there are;
    what room there is beyond goes to the other times, in their order.
    """
    if len(points) <= most:
        return tuple(points)
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, point in enumerate(points):
        first.setdefault(point.text, number)
        last[point.text] = number
    kept = {*first.values(), *last.values()}
    others = (i for i in range(len(points)) if i not in kept)
    kept.update(i for i, _ in zip(others, range(most - len(kept)), strict=False))
    return tuple(points[i] for i in sorted(kept))


def _parted(points: Iterable[Point]) -> tuple[list[Point], list[Point]]:
    """Part lines from returns."""
    lines: list[Point] = []
    ended: list[Point] = []
    for point in points:
        (ended if returns(point.text) else lines).append(point)
    return lines, ended


def _read(path: Path) -> list[Point]:
    """Read notes; other threads' returns are left out: none of them ends the work."""
    return [
        Point(text, time)
        for main, text, time in notes.read(path)
        if main or not returns(text)
    ]


def _times(points: Iterable[Point]) -> int:
    """Count how often points were come to, those included that were not noted."""
    last: dict[str, int] = {}
    for point in points:
        last[point.text] = max(point.time, last.get(point.text, 0))
    return sum(last.values())
