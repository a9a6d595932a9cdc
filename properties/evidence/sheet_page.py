"""A guarantee sheet as a page: one file, which asks nothing of any network."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from onceproof.model.text import printable
from onceproof.properties.evidence.sheet_text import HEAD, cells, paragraphs, unclaimed

if TYPE_CHECKING:
    from onceproof.properties.evidence.sheet import Sheet

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem;
  padding: 0 1rem; color: #1c1c1c; background: #fff; overflow-wrap: break-word; }
table { border-collapse: collapse; width: 100%; }
th, td { border: 1px solid #bbb; padding: .3rem .5rem; text-align: left;
  vertical-align: top; }
code { font-family: ui-monospace, monospace; }
.refuted, .unsupported, .undecided, .vacuous { font-weight: bold; }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #161616; } th, td { border-color: #555; } }
"""
_COLUMNS = ("Of", "Claim", "Faults", "Verdict", "Evidence", "What breaks it")
_VERDICT = 3


def as_page(sheet: Sheet) -> str:
    """Give a sheet as HTML; what it says is what the Markdown says."""
    body = ["<h1>Guarantees</h1>", f"<p>{html.escape(HEAD)}</p>"]
    for subject, rows in sheet.subjects.items():
        body.append(f"<h2>{html.escape(printable(subject))}</h2>")
        heads = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
        body.append(f"<table><thead><tr>{heads}</tr></thead><tbody>")
        for row in rows:
            texts = cells(row)
            kind = texts[_VERDICT].split(" ")[0]
            shown = (
                f'<td class="{kind}">{_text(cell)}</td>'
                if place == _VERDICT
                else f"<td>{_text(cell)}</td>"
                for place, cell in enumerate(texts)
            )
            body.append(f"<tr>{''.join(shown)}</tr>")
        body.append("</tbody></table>")
        for title, lines in paragraphs(rows):
            body += [f"<h3>{html.escape(title)}</h3>", _list(lines)]
    if sheet.unclaimed:
        body.append("<h2>Evidence for which nothing is claimed</h2>")
        body.append(_list(unclaimed(sheet)))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Guarantees</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _list(lines: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(line)}</li>' for line in lines)}</ul>"


def _text(text: str) -> str:
    """Give text as HTML, with what Markdown marks in it."""
    safe = html.escape(printable(text))
    safe = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", safe)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", safe)
