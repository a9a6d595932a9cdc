"""What real Spark showed of each reference sink, guarantee by guarantee."""

from __future__ import annotations

import inspect
import itertools
import textwrap

from onceproof.properties.evidence.sheet import ASPECTS, SheetRow
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.cli.commands.guarantees import _assembled
from onceproof.spark_checks.report.evidence.project_settings import settings_at
from onceproof.spark_checks.sinks.reference import reference_sinks
from tests.docs.drawn.canvas import Canvas
from tests.test_house import ROOT

EDGE, FIRST, TOP = 16, 256, 84
CELL, ROW, GAP = (70, 44), 52, 5
LEGEND, LETTERS = 58, 38
HELD, REFUTED, UNDECIDED, UNSUPPORTED = "held", "refuted", "undecided", "unsupported"
# The word, the sign, the ground and the ink of a cell.
KINDS = {
    HELD: ("✓", "on-good", "good"),
    REFUTED: ("✗", "on-bad", "bad"),
    UNDECIDED: ("?", "on-open", "open"),
    UNSUPPORTED: ("\N{EN DASH}", "box", "quiet"),
}


def guarantees_of_sinks() -> str:
    """Draw a row for each sink, those that hold the most first."""
    sheet = _assembled(settings_at(ROOT))
    found = {
        name: {row.claim.guarantee: _said(row) for row in sheet.subjects[name]}
        for name in reference_sinks()
    }
    names = sorted(found, key=lambda name: (-_count(found[name]), name))
    width = FIRST + (CELL[0] + GAP) * len(ASPECTS) - GAP + EDGE
    height = TOP + ROW * len(names) + LEGEND
    refuted = [name for name in names if REFUTED in found[name].values()]
    picture = Canvas(
        width,
        height,
        f"{len(names)} sinks and {len(ASPECTS)} guarantees",
        f"{len(refuted)} sinks break a guarantee: {', '.join(refuted)}.",
    )
    _heads(picture)
    for number, name in enumerate(names):
        y = TOP + ROW * number
        _name(picture, name, y)
        for column, guarantee in enumerate(ASPECTS):
            verdict = found[name].get(guarantee, UNSUPPORTED)
            _cell(
                picture,
                verdict,
                (_across(column), y),
                f"{name}, {guarantee}: {verdict}",
            )
    _legend(picture, height - LEGEND + 36)
    return picture.text()


def _said(row: SheetRow) -> str:
    verdict = row.verdict
    if verdict is None:
        return UNSUPPORTED
    if verdict.holds:
        return HELD
    return REFUTED if verdict is Verdict.REFUTED else UNDECIDED


def _count(cells: dict[str, str]) -> int:
    return sum(verdict == HELD for verdict in cells.values())


def _name(picture: Canvas, name: str, y: float) -> None:
    """Name a sink, and say what it does in the words of the function that builds it."""
    text = (inspect.getdoc(reference_sinks()[name].build) or "").split("\n")[0]
    lines = _even(text.rstrip("."))
    top = y + CELL[1] / 2 + 4 - 7 * len(lines)
    picture.words((EDGE, top), name, "strong")
    for number, line in enumerate(lines, 1):
        picture.words((EDGE, top + 1 + 14 * number), line, "small quiet")


def _even(text: str) -> list[str]:
    """Break a text into as few lines as can be, none much longer than the others."""
    few = len(textwrap.wrap(text, LETTERS))
    tried = (textwrap.wrap(text, letters) for letters in range(1, LETTERS + 1))
    return next(lines for lines in tried if len(lines) == few)


def _across(column: int) -> float:
    return FIRST + (CELL[0] + GAP) * column


def _heads(picture: Canvas) -> None:
    """Name each guarantee, below what it is about."""
    columns = enumerate(ASPECTS.items())
    for aspect, group in itertools.groupby(columns, key=lambda one: one[1][1]):
        at = [column for column, _ in group]
        left, right = _across(at[0]), _across(at[-1]) + CELL[0]
        middle = (left + right) / 2
        picture.words((middle, 24), aspect, "small quiet", anchor="middle")
        picture.path(f"M{left} 33H{right}", "lane")
    for column, guarantee in enumerate(ASPECTS):
        middle = _across(column) + CELL[0] / 2
        for line, word in enumerate(_broken(guarantee)):
            at = (middle, 52 + 15 * line)
            picture.words(at, word, "small strong", anchor="middle")


def _broken(guarantee: str) -> list[str]:
    """Break a name into the lines of a head."""
    *before, last = guarantee.split("-")
    return [f"{'-'.join(before)}-", last] if before else [last]


def _cell(picture: Canvas, verdict: str, at: tuple[float, float], hint: str) -> None:
    sign, ground, ink = KINDS[verdict]
    picture.box(at, CELL, ground, hint=hint)
    middle = (at[0] + CELL[0] / 2, at[1] + CELL[1] / 2 + 6)
    picture.words(middle, sign, f"large strong {ink}", anchor="middle")


def _legend(picture: Canvas, y: float) -> None:
    for number, (verdict, (sign, ground, ink)) in enumerate(KINDS.items()):
        x = FIRST + 127 * number
        picture.box((x, y - 14), (24, 19), ground, round_=4)
        picture.words((x + 12, y), sign, f"strong {ink}", anchor="middle")
        picture.words((x + 32, y), verdict, "small")
