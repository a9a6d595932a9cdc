"""A run that loses an event: a note is written, and a crash comes before the rows.

All of it is what the explorer shows of the run; here it is only drawn.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from onceproof.properties.evidence.sheet import ASPECTS
from onceproof.properties.explorer.phrases import CELLS, labels, title
from tests.docs.drawn.canvas import Canvas
from tests.docs.drawn.lanes import EDGE, DrawnLanes
from tests.properties.explorer.runs import broken

if TYPE_CHECKING:
    from onceproof.properties.explorer.view import View

WIDTH, TOP = 736, 118
CELL, BAR = 29, 24
SENTENCES, ACROSS = 3, 104


def lost_update() -> str:
    """Draw the lanes, the strip below, and why the claim fails."""
    view = broken(
        "micro-batch",
        "at-least-once",
        sink="ledger-before",
        BATCH=1,
        PARTITION=1,
        ATTEMPT=1,
    ).view
    lines = _why(view)
    strips = [strip for strip in view.strips if strip.property in ASPECTS]
    lanes = DrawnLanes(view.lanes, view.steps, TOP, WIDTH)
    below = lanes.bottom + 46
    end = below + 76 + BAR * len(strips)
    picture = Canvas(
        WIDTH,
        end + 18 * len(lines) + 22,
        f"{title(view)}, step by step",
        " ".join(lines),
    )
    picture.words((EDGE, 34), title(view), "large strong")
    picture.words((EDGE, 56), labels(view), "small quiet")
    lanes.draw(picture)
    _strips(picture, view, below)
    picture.words((EDGE, end), "Why", "strong")
    for number, line in enumerate(lines):
        picture.words((EDGE, end + 20 + 18 * number), line)
    return picture.text()


def _strips(picture: Canvas, view: View, top: float) -> None:
    """Draw how each guarantee stands after each step."""
    first = WIDTH - EDGE - CELL * (len(view.steps) + 1)
    picture.words((EDGE, top), "after step", "small quiet")
    for number in range(len(view.steps) + 1):
        x = first + CELL * (number + 0.5)
        picture.words((x, top), str(number), "small quiet", anchor="middle")
    strips = [strip for strip in view.strips if strip.property in ASPECTS]
    for row, strip in enumerate(strips):
        y = top + 24 + BAR * row
        picture.path(f"M{EDGE} {y - 16}H{WIDTH - EDGE}", "rule")
        chosen = " strong" if strip.property == view.property else ""
        picture.words((EDGE, y), strip.property, f"small{chosen}")
        for number, cell in enumerate(strip.cells):
            x = first + CELL * (number + 0.5)
            if number == strip.first:
                picture.box((x - 11, y - 13), (22, 18), "on-bad", round_=4)
            kind = "bad strong" if cell == "fails" else "quiet"
            picture.words((x, y), CELLS.get(cell, "?"), kind, anchor="middle")
    kinds = (("holds", "holds"), ("fails", "fails"), ("open", "nothing to say yet"))
    legend = ", ".join(f"{CELLS[cell]} {text}" for cell, text in kinds)
    y = top + 28 + BAR * len(strips)
    picture.words((WIDTH - EDGE - 6, y), legend, "small quiet", anchor="end")


def _why(view: View) -> list[str]:
    """Give the end of the chain of reasons, in lines."""
    chain = ", ".join(view.because[-SENTENCES:])
    return textwrap.wrap(f"{chain[:1].upper()}{chain[1:]}.", ACROSS)
