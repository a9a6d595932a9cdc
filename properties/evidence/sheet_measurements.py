"""Measurements in a guarantee sheet: what was counted, and when; no claim uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.properties.evidence.measurements.measurement import SUMS_AGREE
from onceproof.properties.evidence.sheet_words import CLASSES, NOTHING, Cell, mark

if TYPE_CHECKING:
    from onceproof.properties.evidence.measurements.measurement import Measurement
    from onceproof.properties.evidence.sheet import Sheet

TITLE = "Measurements of real tables"
NOTE = (
    "Each line is what one run of `onceproof reconcile` counted in two tables, between "
    "the two moments that it names. It says nothing about rows that came later, about "
    "other tables, or about faults. No claim above rests on it."
)
_COUNTED = ("owed", "missing", "duplicated", "unexplained", "changed")
_CHANGED = "the property has changed since"


def columns(sheet: Sheet) -> tuple[str, ...]:
    """Return the titles of the columns."""
    names = _names(sheet)
    return ("source", "sink", "events owed", "read (UTC)", *names, *_COUNTED, "again")


def lines(sheet: Sheet) -> tuple[tuple[Cell, ...], ...]:
    """Return a line for each measurement, the newest first."""
    found = sorted(sheet.measurements.values(), key=lambda one: one.id)
    found.sort(key=lambda one: one.began, reverse=True)
    return tuple(_line(one, sheet) for one in found)


def _line(found: Measurement, sheet: Sheet) -> tuple[Cell, ...]:
    verdicts = [_verdict(found, name, sheet) for name in _names(sheet)]
    counts = [Cell(f"{getattr(found.counts, word):,}") for word in _COUNTED]
    return (
        Cell(_plain(found.source)),
        Cell(_plain(found.sink)),
        Cell(_plain(found.owed)),
        Cell(f"{found.began} to {found.ended}"),
        *verdicts,
        *counts,
        Cell(_plain(found.command)),
    )


def _verdict(found: Measurement, name: str, sheet: Sheet) -> Cell:
    verdict = found.verdicts.get(name)
    if verdict is None:
        return Cell("")
    then, now = found.properties.get(name), sheet.hashes.get(name)
    if name != SUMS_AGREE and (then is None or then != now):
        return Cell(f"{NOTHING} {_CHANGED}", CLASSES[NOTHING])
    sign = mark(verdict)
    return Cell(f"{sign} {verdict}", CLASSES[sign])


def _names(sheet: Sheet) -> tuple[str, ...]:
    """Return the claims that any measurement judges, in the order of the first."""
    each = (name for one in sheet.measurements.values() for name in one.verdicts)
    return tuple(dict.fromkeys(each))


def _plain(text: str) -> str:
    """Leave nothing in a text that a sheet would read as bold or as code."""
    return text.replace("`", "'").replace("**", "* *")
