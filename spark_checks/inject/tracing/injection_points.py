"""Points of a user's own code at which it can be struck, found by running it once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.tracing import line_trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

MOST_POINTS = 40
MOST_INSTALLED = 200
OUTSIDE_FILE = "outside"
DRIVER, TASK, ABORT = "driver", "task", "abort"
_RETURN = "the return of "
_INSTALLED = " (installed), "
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
    not among these: see ``chosen``. ``outside`` names code that was called and is not
    injected into, and why; ``unlisted`` counts lines of installed packages beyond
    ``MOST_INSTALLED``.
    """

    driver: Mapping[int, tuple[Point, ...]] = field(default_factory=dict)
    tasks: Mapping[tuple[int, int], tuple[Point, ...]] = field(default_factory=dict)
    aborts: Mapping[int, tuple[Point, ...]] = field(default_factory=dict)
    last: Mapping[int, Point] = field(default_factory=dict)
    callback: bool = False
    passed: int = 0
    outside: tuple[tuple[str, str], ...] = ()
    unlisted: int = 0

    @property
    def sizes(self) -> dict[str, int]:
        """Give the sizes of the model's sorts of points."""
        work = (len(self.work(batch)) for batch, _ in self.tasks)
        return {
            "LINE": max(1, *map(len, self.driver.values()), 0),
            "WORK": max(1, *work, 0),
            "UNDO": max(1, *map(len, self.aborts.values()), 0),
        }

    def work(self, batch: int) -> tuple[tuple[int, Point], ...]:
        """List the points of a batch's tasks, each with a partition that comes to it.

        First are those of the task that comes to the most; then lines that only other
        tasks come to. The ends of the tasks are not among them.
        """
        first = self.fullest(batch)
        if first is None:
            return ()
        found = [(first, point) for point in self.tasks[batch, first][:-1]]
        known = {point.text for _, point in found}
        for (other, partition), points in sorted(self.tasks.items()):
            if other == batch and partition != first:
                new = [p for p in points[:-1] if p.text not in known]
                found += [(partition, point) for point in new]
                known.update(point.text for point in new)
        return tuple(found)

    @property
    def lines(self) -> dict[str, frozenset[str]]:
        """The lines that faults can be injected before, by where they run."""
        driver = (point.text for points in self.driver.values() for point in points)
        tasks = (point.text for b, _ in self.tasks for _, point in self.work(b))
        # What comes before the first line of an abort is a fault of the commit.
        aborts = (p.text for points in self.aborts.values() for p in points[1:])
        return {
            DRIVER: frozenset(driver),
            TASK: frozenset(tasks),
            ABORT: frozenset(aborts),
        }

    def fullest(self, batch: int) -> int | None:
        """Name the partition of a batch whose task comes to the most points."""
        found = {p: len(points) for (b, p), points in self.tasks.items() if b == batch}
        return max(found, key=lambda p: (found[p], -p), default=None)


def told(text: str, *, returns: bool = False, ends: bool = False) -> str:
    """Say of a place in the code whether it is left: a function, or a ``with``."""
    return f"{_RETURN if returns else _END if ends else ''}{text}"


def place_of(line: int, file: str, *, installed: bool) -> str:
    """Name a line of a file, which may be one of an ``installed`` package."""
    return f"line {line} of {file}{_INSTALLED if installed else ', '}"


def installed(text: str) -> bool:
    """Say whether a point is in a package that the user's code calls."""
    return _INSTALLED in text


def may_raise(text: str) -> bool:
    """Say whether an error can come up at a point, as if a call had raised it.

    At the end of a ``with`` it cannot: its block is done, and ``__exit__`` would be
    left out.
    """
    return not text.startswith((_RETURN, _END))


def returns(text: str) -> bool:
    """Say whether a point is the return of a function."""
    return text.startswith(_RETURN)


def outside_in(path: Path) -> tuple[tuple[str, str], ...]:
    """Read which code was called and is not injected into, and why."""
    if not path.exists():
        return ()
    lines = set(path.read_text(encoding="utf-8").splitlines())
    return tuple(sorted((n, why) for n, _, why in (x.partition("\t") for x in lines)))


def seen_in(marks: Path, batches: int, *, callback: bool) -> Seen:
    """Read the notes of a run in which every point was noted."""
    driver: dict[int, tuple[Point, ...]] = {}
    last: dict[int, Point] = {}
    tasks: dict[tuple[int, int], tuple[Point, ...]] = {}
    passed = 0
    unlisted: set[str] = set()
    for batch in range(batches):
        lines, ended = _parted(_read(marks / line_trace.file_of(DRIVER, batch)))
        if lines:
            driver[batch] = chosen(lines)
            passed += _times(lines) - len(driver[batch])
            unlisted |= _left_out(lines, driver[batch])
        if lines and ended:
            last[batch] = ended[-1]
        for path in sorted(marks.glob(f"{line_trace.file_of(TASK, batch)}-*")):
            lines, ended = _parted(_read(path))
            if lines and ended:
                kept = chosen(lines)
                passed += _times(lines) - len(kept)
                unlisted |= _left_out(lines, kept)
                key = (batch, int(path.name.rpartition("-")[2]))
                tasks[key] = (*kept, ended[-1])
    called = outside_in(marks / OUTSIDE_FILE)
    return Seen(driver, tasks, {}, last, callback, passed, called, len(unlisted))


def points_in(path: Path) -> tuple[Point, ...]:
    """Read the points of one file of notes, returns apart."""
    lines, _ = _parted(_read(path))
    return chosen(lines)


def chosen(points: Sequence[Point], most: int = MOST_POINTS) -> tuple[Point, ...]:
    """Leave out repetitions of lines where there are more than so many points.

    Each line stays at its first and at its last time: of the user's own all, however
    many there are, and of installed packages the first ``MOST_INSTALLED``. What room
    there is beyond goes to the other times, in their order, those of the user's own
    lines before those of packages.
    """
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, point in enumerate(points):
        first.setdefault(point.text, number)
        last[point.text] = number
    theirs = [text for text in first if installed(text)]
    beyond = set(theirs[MOST_INSTALLED:])
    if len(points) <= most and not beyond:
        return tuple(points)
    ends = (*first.items(), *last.items())
    kept = {at for text, at in ends if text not in beyond}
    others = [
        at for at, p in enumerate(points) if at not in kept and p.text not in beyond
    ]
    others.sort(key=lambda at: installed(points[at].text))
    kept.update(others[: max(0, most - len(kept))])
    return tuple(points[at] for at in sorted(kept))


def _left_out(points: Iterable[Point], kept: Iterable[Point]) -> set[str]:
    """List the lines that are at no time among those that are kept."""
    return {point.text for point in points} - {point.text for point in kept}


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
        for main, text, time in line_trace.read(path)
        if main or not returns(text)
    ]


def _times(points: Iterable[Point]) -> int:
    """Count how often points were come to, those included that were not noted."""
    last: dict[str, int] = {}
    for point in points:
        last[point.text] = max(point.time, last.get(point.text, 0))
    return sum(last.values())
