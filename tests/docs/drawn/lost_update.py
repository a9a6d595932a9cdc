"""A lost update in lanes: the view of the explorer, as a picture that stands alone."""

from __future__ import annotations

import textwrap

from onceproof.properties.explorer.drawing import Lanes
from onceproof.properties.explorer.kinds import ACTION, CRASH, RESTART
from onceproof.properties.explorer.saying import word
from tests.docs.drawn.canvas import Canvas
from tests.properties.explorer.runs import broken

LINE, TOP, LEFT, LANE, WORDS, STRIP = 27, 62, 46, 104, 232, 30
CLAIM = "at-least-once"
SIGNS = {"holds": ("·", "quiet"), "fails": ("✕", "bad"), "open": ("-", "quiet")}


def lost_update() -> str:
    """Draw a batch that is noted as done before its rows are there, and a crash."""
    found = broken("micro-batch", CLAIM, BATCH=1, PARTITION=1, sink="ledger-before")
    view = found.view
    lanes = Lanes(view, None)
    words = LEFT + LANE * len(view.lanes)
    strip = words + WORDS
    reasons = [
        line
        for r in view.because[-3:]
        for line in textwrap.wrap(r, 86, break_on_hyphens=False)
    ]
    bottom = TOP + LINE * len(view.steps)
    width = strip + 2 * STRIP + 20
    picture = Canvas(
        width,
        bottom + 64 + 19 * len(reasons),
        "An update that is lost",
        "The driver notes a batch as done, dies before it writes the rows, and skips "
        "the batch when it has restarted.",
    )

    def at(number: int) -> float:
        return TOP + LINE * (number - 0.5)

    fails_at = view.fails_at or 0
    picture.box((4, at(fails_at) - 13), (width - 8, 26), "ground", round_=4)
    for n, name in enumerate(view.lanes):
        picture.words((LEFT + LANE * (n + 0.5), 30), name, "strong", anchor="middle")
        for number in range(1, len(view.steps)):
            down = n in lanes._down[number]
            x, kind = LEFT + LANE * (n + 0.5), "lane down" if down else "lane"
            picture.path(f"M{x} {at(number)}v{LINE}", kind)
    picture.words((strip + STRIP, 30), CLAIM, "small strong", anchor="middle")
    cells = next(s for s in view.strips if s.property == CLAIM).cells
    for step in view.steps:
        y = at(step.number)
        picture.words((32, y + 4), str(step.number), "small quiet", anchor="end")
        _mark(picture, (LEFT + LANE * (step.lane + 0.5), y), step.kind)
        kind = "code small strong" if step.kind != ACTION else "code small"
        picture.words((words, y + 4), step.text, kind)
        if word(step.kind):
            style = "small bad" if step.kind == CRASH else "small quiet"
            picture.words((strip - 12, y + 4), word(step.kind), style, anchor="end")
        sign, colour = SIGNS[cells[step.number]]
        picture.words((strip + STRIP, y + 5), sign, f"strong {colour}", anchor="middle")
    picture.words(
        (LEFT, bottom + 22), "● step   ☒ crash   ▲ restart   ┊ down", "small quiet"
    )
    for number, reason in enumerate(reasons):
        kind = "strong" if number == len(reasons) - 1 else ""
        picture.words((LEFT, bottom + 50 + 19 * number), reason, kind)
    return picture.text()


def _mark(picture: Canvas, at: tuple[float, float], kind: str) -> None:
    x, y = at
    if kind == CRASH:
        picture.box((x - 8, y - 8), (16, 16), "cross", round_=0)
        picture.path(f"M{x - 5} {y - 5}l10 10m0 -10l-10 10", "cross")
    elif kind == RESTART:
        picture.path(f"M{x} {y - 9}l9 15h-18z", "mark")
    else:
        picture.dot(at, 6, "mark")
