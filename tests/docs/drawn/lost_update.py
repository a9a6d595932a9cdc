"""A run that loses an event: a note is written, and a crash comes before the rows.

All of it is what the explorer shows of the run; here it is only drawn.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from onceproof.properties.counterexample.step_kinds import ACTION, CRASH, RESTART
from onceproof.properties.evidence.sheet import ASPECTS
from onceproof.properties.explorer.phrases import CELLS, labels, title
from tests.docs.drawn.canvas import Canvas
from tests.properties.explorer.runs import broken

if TYPE_CHECKING:
    from onceproof.properties.explorer.view import StepView, View

WIDTH, EDGE = 736, 20
TOP, ROW, FIRST, GAP = 118, 40, 84, 86
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
    below = TOP + ROW * len(view.steps) + 46
    end = below + 76 + BAR * len(strips)
    picture = Canvas(
        WIDTH,
        end + 18 * len(lines) + 22,
        f"{title(view)}, step by step",
        " ".join(lines),
    )
    picture.words((EDGE, 34), title(view), "large strong")
    picture.words((EDGE, 56), labels(view), "small quiet")
    _lanes(picture, view)
    _strips(picture, view, below)
    picture.words((EDGE, end), "Why", "strong")
    for number, line in enumerate(lines):
        picture.words((EDGE, end + 20 + 18 * number), line)
    return picture.text()


def _lanes(picture: Canvas, view: View) -> None:
    """Draw a column for each that acts, and a row for each step."""
    for lane, name in enumerate(view.lanes):
        picture.words((_across(lane), TOP - 22), name, "strong", anchor="middle")
        _lifeline(picture, view, lane)
    for step in view.steps:
        y = _down(step.number)
        text = FIRST + GAP * len(view.lanes) - 30
        if step.breaks:
            picture.box((EDGE, y - ROW / 2), (WIDTH - 2 * EDGE, ROW), "ground")
            _lifelines_again(picture, view, step)
        number = str(step.number)
        picture.words((EDGE + 24, y + 4), number, "small quiet", anchor="end")
        _mark(picture, step, (_across(step.lane), y))
        picture.words((text, y - 2), step.text, "code")
        picture.words((text, y + 14), step.doc, "small quiet")
        found = (
            "breaks here" if step.breaks else "" if step.kind == ACTION else step.kind
        )
        kind = "small strong" if step.kind == RESTART else "small strong bad"
        picture.words((WIDTH - EDGE - 10, y - 2), found, kind, anchor="end")


def _lifeline(picture: Canvas, view: View, lane: int) -> None:
    """Draw the line of one that acts, dashed while it is down."""
    x, top, kind = _across(lane), TOP - 12.0, "lane"
    for step in view.steps:
        if step.lane == lane and step.kind in {CRASH, RESTART}:
            picture.path(f"M{x} {top}V{_down(step.number)}", kind)
            top, kind = _down(step.number), "lane"
            kind += " down" if step.kind == CRASH else ""
    picture.path(f"M{x} {top}V{_down(len(view.steps)) + ROW / 2}", kind)


def _lifelines_again(picture: Canvas, view: View, step: StepView) -> None:
    """Draw what the ground of a row has covered."""
    y = _down(step.number)
    for lane in range(len(view.lanes)):
        picture.path(f"M{_across(lane)} {y - ROW / 2}v{ROW}", "lane")


def _mark(picture: Canvas, step: StepView, at: tuple[float, float]) -> None:
    """Draw a step by its kind, in the shapes of the explorer's page."""
    x, y = at
    weak = " weak" if step.matters is False else ""
    if step.breaks:
        picture.dot(at, 13, "ring")
    if step.kind == CRASH:
        picture.box((x - 8, y - 8), (16, 16), "cross", round_=0)
        picture.path(f"M{x - 5} {y - 5}l10 10m0 -10l-10 10", "cross")
    elif step.kind == RESTART:
        picture.path(f"M{x} {y - 9}l9 15h-18z", f"mark{weak}")
    elif step.kind == ACTION:
        picture.dot(at, 6, f"mark{weak}")
    else:
        picture.path(f"M{x} {y - 9}l9 9l-9 9l-9 -9z", "cross")


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


def _across(lane: int) -> float:
    return FIRST + GAP * lane


def _down(number: int) -> float:
    return TOP + ROW * (number - 0.5)
