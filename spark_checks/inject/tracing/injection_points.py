"""Injection points of a user's own code, found by running it once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.tracing import line_trace
from onceproof.spark_checks.sinks.code_points import (
    DRIVER,
    TASK,
    CodePoint,
    SeenPoints,
    installed,
    returns,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

MOST_POINTS = 40
MOST_INSTALLED = 200
OUTSIDE_FILE = "outside"


def outside_in(path: Path) -> tuple[tuple[str, str], ...]:
    """Read which code was called and is not injected into, and why."""
    if not path.exists():
        return ()
    lines = set(path.read_text(encoding="utf-8").splitlines())
    return tuple(sorted((n, why) for n, _, why in (x.partition("\t") for x in lines)))


def seen_in(marks: Path, batches: int, *, callback: bool) -> SeenPoints:
    """Read the notes of a run in which every point was noted."""
    driver: dict[int, tuple[CodePoint, ...]] = {}
    last: dict[int, CodePoint] = {}
    tasks: dict[tuple[int, int], tuple[CodePoint, ...]] = {}
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
    return SeenPoints(driver, tasks, {}, last, callback, passed, called, len(unlisted))


def points_in(path: Path) -> tuple[CodePoint, ...]:
    """Read the points of one file of notes, returns apart."""
    lines, _ = _parted(_read(path))
    return chosen(lines)


def chosen(
    points: Sequence[CodePoint], most: int = MOST_POINTS
) -> tuple[CodePoint, ...]:
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
    return tuple(_since_kept(points, sorted(kept)))


def _since_kept(points: Sequence[CodePoint], kept: list[int]) -> Iterator[CodePoint]:
    """Yield the kept points; one is unchanged if all are from the kept one before."""
    before = -1
    for at in kept:
        unchanged = all(point.unchanged for point in points[before + 1 : at + 1])
        yield replace(points[at], unchanged=unchanged)
        before = at


def _left_out(points: Iterable[CodePoint], kept: Iterable[CodePoint]) -> set[str]:
    """List the lines that are at no time among those that are kept."""
    return {point.text for point in points} - {point.text for point in kept}


def _parted(points: Iterable[CodePoint]) -> tuple[list[CodePoint], list[CodePoint]]:
    """Part lines from returns; a line is unchanged if it is from the line before."""
    lines: list[CodePoint] = []
    ended: list[CodePoint] = []
    unchanged = True
    for point in points:
        unchanged = unchanged and point.unchanged
        if returns(point.text):
            ended.append(point)
        else:
            lines.append(replace(point, unchanged=unchanged))
            unchanged = True
    return lines, ended


def _read(path: Path) -> list[CodePoint]:
    """Read notes; other threads' returns are left out: none of them ends the work."""
    return [
        CodePoint(note.text, note.time, note.unchanged)
        for note in line_trace.read(path)
        if note.main or not returns(note.text)
    ]


def _times(points: Iterable[CodePoint]) -> int:
    """Count how often points were reached, those included that were not noted."""
    last: dict[str, int] = {}
    for point in points:
        last[point.text] = max(point.time, last.get(point.text, 0))
    return sum(last.values())
