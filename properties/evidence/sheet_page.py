"""A guarantee sheet as a page: one file, which asks nothing of any network."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from onceproof.properties.evidence.sheet_tables import laid_out
from onceproof.properties.evidence.sheet_text import as_html

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onceproof.properties.evidence.sheet import Sheet
    from onceproof.properties.evidence.sheet_tables import Folded, Table

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem;
  padding: 0 1rem; color: #1c1c1c; background: #fff; overflow-wrap: break-word; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border: 1px solid #bbb; padding: .25rem .5rem; text-align: left;
  vertical-align: top; }
summary { cursor: pointer; }
code { font-family: ui-monospace, monospace; }
.holds { color: #1a7f37; } .refuted { color: #b3261e; } .open { color: #8a5a00; }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #161616; } th, td { border-color: #555; }
  .holds { color: #56d364; } .refuted { color: #ff8a80; } .open { color: #e3b341; } }
"""


def as_page(sheet: Sheet) -> str:
    """Return a sheet as HTML; what it says is what the Markdown says."""
    body: list[str] = []
    for level, section in enumerate(laid_out(sheet)):
        title = "h2" if level else "h1"
        body.append(f"<{title}>{as_html(section.title)}</{title}>")
        body += [f"<p>{as_html(note)}</p>" for note in section.notes]
        body += [line for table in section.tables for line in _table(table)]
        body += [_folded(one) for one in section.folded]
    return document("Guarantees", body)


def document(title: str, body: Iterable[str], *, style: str = "") -> str:
    """Return lines of HTML as a page that runs no script and opens no connection.

    ``style`` adds to the style that all such pages have.
    """
    styles = f"{_STYLE}{style}"
    digest = base64.b64encode(hashlib.sha256(styles.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{as_html(title)}</title><style>{styles}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _table(table: Table) -> Iterator[str]:
    yield from (f"<p>{as_html(note)}</p>" for note in table.notes)
    heads = "".join(f'<th scope="col">{as_html(name)}</th>' for name in table.head)
    yield f"<table><thead><tr>{heads}</tr></thead><tbody>"
    for row in table.rows:
        cells = (f"<td{_class(cell.kind)}>{as_html(cell.text)}</td>" for cell in row)
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _folded(folded: Folded) -> str:
    lines = "".join(f"<li>{as_html(line)}</li>" for line in folded.lines)
    summary = f"<summary>{as_html(folded.summary)}</summary>"
    return f"<details>{summary}<ul>{lines}</ul></details>"
