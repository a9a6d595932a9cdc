"""What snapshots and logs cost, drawn from the stored figures of the simulation."""

from __future__ import annotations

import json
import math
from typing import Any

from tests.docs.drawn.chart import ChartLine, LogAxis, chart
from tests.test_house import ROOT

FIGURES = ROOT / "docs" / "explanation" / "cost.json"
# The words of a line, and how it is drawn.
KINDS = {
    "snapshot": ("snapshots", "edge thick"),
    "snapshot, free coordinator": ("free coordinator", "lane"),
    "snapshot, often": ("snapshots, often", "lane"),
    "log": ("log", "edge"),
}


def one_failure() -> str:
    """Draw by how much one failure delays a record, over the number of operators."""
    rows = _figures()["growth"]
    lines = []
    for kind in ("snapshot", "snapshot, free coordinator", "log"):
        label, drawn = KINDS[kind]
        points = []
        for row in rows:
            once, calm = row[kind]["one_failure"], row[kind]["calm"]
            delay = once["processed_after"] - calm["processed_after"]
            if delay > 0:
                points.append((row["operators"], delay))
        lines.append(ChartLine(label, drawn, points))
    return chart(
        "One failure of one operator",
        "With snapshots it delays all records, with a log those of one operator.",
        (
            LogAxis("operators", _powers(lines, 0), "{:,.0f}".format),
            LogAxis("mean delay of a record", _powers(lines, 1), "{:g} s".format),
        ),
        lines,
    )


def frequent_failures() -> str:
    """Draw the time of a run, over the time between two failures."""
    found = _figures()["frequency"]
    lines = []
    for kind in ("snapshot", "snapshot, often", "log"):
        label, drawn = KINDS[kind]
        points = [
            (1 / row["seconds_between_failures"], row[kind]["ratio"])
            for row in found["rows"]
            if row[kind]["ratio"] is not None
        ]
        note = "" if len(points) == len(found["rows"]) else "beyond, it does not end"
        lines.append(ChartLine(label, drawn, points, note))
    highest = max(value for line in lines for _, value in line.points)
    ends = [row["seconds_between_failures"] for row in found["rows"]]
    return chart(
        f"Failures become frequent, {found['operators']} operators",
        "Snapshots cost less while failures are rare, and more when they are frequent.",
        (
            LogAxis(
                "time between two failures of the job",
                [1 / seconds for seconds in ends],
                lambda often: f"{1 / often:.3g} s",
            ),
            LogAxis(
                "time of a run, to one without protection and failures",
                [1, *(n for n in (1.5, 2, 3, 5, 10, 20) if n < highest), 20],
                "{:g}".format,
            ),
        ),
        lines,
    )


def _figures() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return found["simulated"]


def _powers(lines: list[ChartLine], which: int) -> list[float]:
    """Return the powers of ten around all values."""
    values = [point[which] for line in lines for point in line.points]
    low = math.floor(math.log10(min(values)) + 1e-9)
    high = math.ceil(math.log10(max(values)) - 1e-9)
    return [10.0**power for power in range(low, high + 1)]
