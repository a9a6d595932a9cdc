"""Lines over two logarithmic axes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.docs.drawn.canvas import Canvas

if TYPE_CHECKING:
    from collections.abc import Callable

LEFT, RIGHT, TOP, BOTTOM = 64, 176, 64, 56
WIDTH, HEIGHT = 736, 340


@dataclass(frozen=True)
class ChartLine:
    """A line of a chart, with its points from left to right."""

    label: str
    """The words at its end."""
    kind: str
    """The class of the line: ``edge``, or ``edge thick`` and the like."""
    points: list[tuple[float, float]]
    """The values that are drawn."""
    note: str = ""
    """What is written where it leaves the chart: it has no value beyond."""


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis, and the ticks on it."""

    title: str
    """What it measures."""
    ticks: list[float]
    """Where ticks are; the first and the last are its ends."""
    words: Callable[[float], str]
    """Writes the value of a tick."""

    def part(self, value: float) -> float:
        """Return where a value is between the ends, from 0 to 1."""
        low, high = math.log(self.ticks[0]), math.log(self.ticks[-1])
        return (math.log(value) - low) / (high - low)


def chart(
    title: str, description: str, axes: tuple[LogAxis, LogAxis], lines: list[ChartLine]
) -> str:
    """Draw the axes, the lines, and a label at the end of each."""
    across, up = axes
    picture = Canvas(WIDTH, HEIGHT, title, description)
    inner = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM)

    def at(point: tuple[float, float]) -> tuple[float, float]:
        x, y = across.part(point[0]), up.part(point[1])
        return LEFT + inner[0] * x, TOP + inner[1] * (1 - y)

    picture.words((16, 26), title, "strong")
    picture.words((16, 46), up.title, "quiet small")
    for tick in up.ticks:
        _, y = at((across.ticks[0], tick))
        picture.path(f"M{LEFT} {y:.1f}H{LEFT + inner[0]}", "rule")
        picture.words((LEFT - 8, y + 4), up.words(tick), "quiet small", anchor="end")
    for tick in across.ticks:
        x, y = at((tick, up.ticks[0]))
        picture.path(f"M{x:.1f} {y:.1f}v5", "edge")
        words = across.words(tick)
        picture.words((x, y + 20), words, "quiet small", anchor="middle")
    middle = (LEFT + inner[0] / 2, HEIGHT - 12)
    picture.words(middle, across.title, "quiet small", anchor="middle")
    ends: list[float] = []
    for line in sorted(lines, key=lambda line: -line.points[-1][1]):
        corners = [at(point) for point in line.points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
        picture.path(f"M{path}", line.kind, hint=line.label)
        for corner in corners:
            picture.dot(corner, 3, "mark")
        x, y = corners[-1]
        # Labels that would lie on each other move down.
        y = max([y + 4, *(end + 15 for end in ends)])
        ends.append(y)
        picture.words((LEFT + inner[0] + 12, y), line.label, "small strong")
        if line.note:
            picture.words((x, corners[-1][1] - 10), line.note, "small bad")
    return picture.text()
