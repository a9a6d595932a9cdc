"""The guarantee matrix: each reference sink beside each guarantee, by the evidence."""

from __future__ import annotations

from onceproof.properties.evidence_files import read_folder
from onceproof.properties.guarantees import GUARANTEES
from onceproof.properties.verdicts import Verdict
from tests.docs.drawn.canvas import Canvas
from tests.test_house import ROOT

NAMES, CELL, LINE, TOP = 226, 92, 34, 52
UNKNOWN = ("-", "unsupported", "")
SAID = {
    Verdict.HELD: ("✓", "held", "good"),
    Verdict.REFUTED: ("✕", "refuted", "bad"),
    Verdict.UNDECIDED: ("?", "undecided", "open"),
}


def guarantee_matrix() -> str:
    """Draw what real Spark showed of each sink, those that break least first."""
    found: dict[str, dict[str, Verdict]] = {}
    for record in read_folder(ROOT / "docs" / "evidence").values():
        if record.kind == "replay":
            found.setdefault(record.subject, {})[record.guarantee] = record.verdict
    sinks = sorted(found, key=lambda s: (_weak(found[s]), s))
    columns = [prop.name for prop in GUARANTEES]
    width, bottom = NAMES + CELL * len(columns) + 12, TOP + LINE * len(sinks)
    picture = Canvas(
        width,
        bottom + 40,
        "Which guarantees the reference sinks keep",
        "A row for each sink, a column for each guarantee: held in every interleaving "
        "that was replayed on real Spark, refuted, or undecided.",
    )
    for n, name in enumerate(columns):
        x = NAMES + CELL * (n + 0.5)
        head, _, tail = name.rpartition("-")
        for row, text in enumerate(filter(None, (head, tail))):
            picture.words((x, 22 + 15 * row), text, "small strong", anchor="middle")
    for row, sink in enumerate(sinks):
        y = TOP + LINE * row
        picture.words((14, y + 21), sink, "strong")
        for n, name in enumerate(columns):
            verdict = found[sink].get(name)
            sign, _, kind = SAID.get(verdict, UNKNOWN) if verdict else UNKNOWN
            x = NAMES + CELL * n
            ground = f"on-{kind}" if kind else "box"
            picture.box((x + 4, y + 3), (CELL - 8, LINE - 6), ground, round_=4)
            at = (x + CELL / 2, y + 22)
            picture.words(at, sign, f"strong {kind}", anchor="middle")
    x = 14
    for sign, text, kind in SAID.values():
        picture.words((x, bottom + 26), sign, f"strong {kind}")
        picture.words((x + 18, bottom + 26), text, "small")
        x += 100
    return picture.text()


def _weak(verdicts: dict[str, Verdict]) -> tuple[int, int]:
    """Count what is refuted, and what is not held."""
    values = list(verdicts.values())
    return values.count(Verdict.REFUTED), sum(v is not Verdict.HELD for v in values)
