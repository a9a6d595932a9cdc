"""Points of a user's own code: the lines and returns that a run reaches."""

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
    """A line, or a return, reached for the ``time``-th time."""

    text: str
    """The line or return, in words."""
    time: int = 1
    """Which time it is reached, from 1."""
    unchanged: bool = field(default=False, compare=False)
    """Whether the fault-free run left nothing that outlives the process since the point
    before it: then a crash leaves the same at both."""

    def __str__(self) -> str:
        """Show the point as reports do."""
        return self.text if self.time == 1 else f"{self.text}, time {self.time}"


@dataclass(frozen=True)
class SeenPoints:
    """The points that a sink's code reached in the fault-free run, in order."""

    driver: Mapping[int, tuple[CodePoint, ...]] = field(default_factory=dict)
    """The points on the driver, by batch."""
    tasks: Mapping[tuple[int, int], tuple[CodePoint, ...]] = field(default_factory=dict)
    """The points in tasks, by batch and partition. The last is the return of the task's
    last function."""
    aborts: Mapping[int, tuple[CodePoint, ...]] = field(default_factory=dict)
    """The points in aborts, by batch."""
    last: Mapping[int, CodePoint] = field(default_factory=dict)
    """The last return on the driver, by batch."""
    callback: bool = False
    """Whether foreachBatch calls the code on the driver, or it is a job."""
    passed: int = 0
    """How often points were reached that are not among these: see ``chosen``."""
    outside: tuple[tuple[str, str], ...] = ()
    """The code that was called and has no faults injected, each with the reason."""
    unlisted: int = 0
    """How many lines of installed packages there are beyond ``MOST_INSTALLED``."""
    leads: Mapping[tuple[int, str], frozenset[str]] = field(default_factory=dict)
    """The faults that lead to points on the driver that the fault-free run has not, by
    batch and point; such points come last."""
    caught: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The faults that code went on after, each with the points that it then reached in
    the same batch, or attempt of a task. Partitions are Spark's."""
    later: Mapping[tuple[int, int], tuple[CodePoint, ...]] = field(default_factory=dict)
    """The points in tasks that follow a broken connection only, by batch and
    partition."""

    @property
    def sizes(self) -> dict[str, int]:
        """Return the sizes of the model's sorts of points."""
        work = (len(self.work(batch)) for batch, _ in self.tasks)
        return {
            "LINE": max(1, *map(len, self.driver.values()), 0),
            "WORK": max(1, *work, 0),
            "UNDO": max(1, *map(len, self.aborts.values()), 0),
        }

    def work(self, batch: int) -> tuple[tuple[int, CodePoint], ...]:
        """List the points of a batch's tasks, each with a partition that reaches it.

        First are those of the task that reaches the most; then lines that only other
        tasks reach, and later ones. The ends of the tasks are not among them.
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
        for (other, partition), points in sorted(self.later.items()):
            if other == batch:
                found += [(partition, point) for point in points]
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
        """Name the partition of a batch whose task reaches the most points."""
        found = {p: len(points) for (b, p), points in self.tasks.items() if b == batch}
        return max(found, key=lambda p: (found[p], -p), default=None)


def point_text(text: str, *, returns: bool = False, ends: bool = False) -> str:
    """Return the text of a point: a line, a function's return, or a block's end."""
    return f"{_RETURN if returns else _END if ends else ''}{text}"


def place_of(line: int, file: str, *, installed: bool) -> str:
    """Name a line of a file, which may be one of an ``installed`` package."""
    return f"line {line} of {file}{_INSTALLED if installed else ', '}"


def installed(text: str) -> bool:
    """Return whether a point is in a package that the user's code calls."""
    return _INSTALLED in text


def may_raise(text: str) -> bool:
    """Return whether a point can raise an error, as if a call had raised it.

    At the end of a ``with`` it cannot: its block is done, and ``__exit__`` would be
    left out.
    """
    return is_line(text)


def is_line(text: str) -> bool:
    """Return whether a point is a line, and no end of a block or function."""
    return not text.startswith((_RETURN, _END))


def returns(text: str) -> bool:
    """Return whether a point is the return of a function."""
    return text.startswith(_RETURN)
