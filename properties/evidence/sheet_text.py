"""A guarantee sheet as Markdown: tables, and what is folded below them.

What is folded is HTML on lines of its own, for Markdown has no word for that.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from onceproof.model.text import printable
from onceproof.properties.evidence.sheet_tables import laid_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onceproof.properties.evidence.sheet import Sheet
    from onceproof.properties.evidence.sheet_tables import Folded, Table

_LINKS = re.compile(r"\]([(\[:])")
_BOLD, _CODE = re.compile(r"\*\*(.+?)\*\*"), re.compile(r"`(.+?)`")


def as_markdown(sheet: Sheet) -> str:
    """Return a sheet as a Markdown page."""
    lines: list[str] = []
    for level, section in enumerate(laid_out(sheet)):
        lines += ["", f"{'##' if level else '#'} {escaped(section.title)}"]
        lines += _notes(section.notes, listed=level > 0)
        for table in section.tables:
            lines += _table(table)
        if section.folded:
            lines += ["", *(line for one in section.folded for line in _folded(one))]
    return "\n".join(lines[1:]) + "\n"


def _notes(notes: tuple[str, ...], *, listed: bool) -> Iterator[str]:
    """Return notes as a list, or as paragraphs."""
    for number, note in enumerate(notes):
        if not listed or not number:
            yield ""
        yield f"- {escaped(note)}" if listed else escaped(note)


def _table(table: Table) -> Iterator[str]:
    yield from _notes(table.notes, listed=True)
    yield ""
    yield _cells(table.head)
    yield "|" + " --- |" * len(table.head)
    yield from (_cells(cell.text for cell in row) for row in table.rows)


def _folded(folded: Folded) -> Iterator[str]:
    summary = f"<details><summary>{as_html(folded.summary)}</summary><ul>"
    first, *others = [f"<li>{as_html(line)}</li>" for line in folded.lines] or [""]
    *lines, last = [f"{summary}{first}", *others]
    yield from lines
    yield f"{last}</ul></details>"


def _cells(texts: Iterable[str]) -> str:
    return "| " + " | ".join(escaped(one).replace("|", "\\|") for one in texts) + " |"


def escaped(text: str) -> str:
    """Return text as it may be in Markdown: on one line, with no HTML and no link."""
    line = printable(" ".join(text.split()))
    line = line.replace("\\", "\\\\").replace("<", "&lt;")
    return _LINKS.sub(r"]\\\1", line)


def as_html(text: str) -> str:
    """Return text as HTML, on one line, with what Markdown marks in it."""
    safe = html.escape(printable(" ".join(text.split())))
    safe = _BOLD.sub(r"<strong>\1</strong>", safe)
    return _CODE.sub(r"<code>\1</code>", safe)
