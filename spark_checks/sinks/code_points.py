"""Points of a user's own code: the lines and returns that a run comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DRIVER, TASK, ABORT = "driver", "task", "abort"
_RETURN = "the return of "
_INSTALLED = " (installed), "
_END = "the end of "


@dataclass(frozen=True)
class CodePoint:
    """A line, or a return, that a process comes to for the ``time``-th time."""

    text: str
    time: int = 1

    def __str__(self) -> str:
        """Show the point as it stands in a report."""
        return self.text if self.time == 1 else f"{self.text}, time {self.time}"


@dataclass(frozen=True)
class SeenPoints:
    """The points that a sink's code was seen to come to, in order.

    On the ``driver`` and in ``aborts`` by batch, in ``tasks`` by batch and partition.
    What runs in a task ends with the return of its last function; ``last`` holds such
    returns on the driver. ``callback`` says that the code on the driver is called by
    foreachBatch or is a job, ``passed`` how many times points were come to that are
    not among these: see ``chosen``. ``outside`` names code that was called and is not
    injected into, and why; ``unlisted`` counts lines of installed packages beyond
    ``MOST_INSTALLED``.
    """

    driver: Mapping[int, tuple[CodePoint, ...]] = field(default_factory=dict)
    tasks: Mapping[tuple[int, int], tuple[CodePoint, ...]] = field(default_factory=dict)
    aborts: Mapping[int, tuple[CodePoint, ...]] = field(default_factory=dict)
    last: Mapping[int, CodePoint] = field(default_factory=dict)
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

    def work(self, batch: int) -> tuple[tuple[int, CodePoint], ...]:
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


def point_text(text: str, *, returns: bool = False, ends: bool = False) -> str:
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
